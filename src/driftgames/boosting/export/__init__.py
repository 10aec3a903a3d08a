"""Forms in which a model leaves the library: ONNX, treelite, a scorecard and a page."""
