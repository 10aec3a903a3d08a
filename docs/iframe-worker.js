// Browsers start no worker from a file. Where the site is read from a folder, this class runs the
// search of the theme in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      const inside = frame.contentWindow;
      const load = (address) =>
        new Promise((done, failed) => {
          const script = inside.document.createElement("script");
          Object.assign(script, { src: address, onload: done, onerror: failed });
          inside.document.head.append(script);
        });
      this.addEventListener("message", (event) => this.onmessage?.(event));
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...scripts) =>
        scripts.reduce((before, each) => before.then(() => load(each)), Promise.resolve());
      this.inside = inside;
      this.frame = frame;
      this.ready = load(url);
    }
    postMessage(data) {
      const { MessageEvent } = this.inside;
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
