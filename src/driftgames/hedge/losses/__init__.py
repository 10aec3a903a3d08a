"""What a forecast costs: losses with their ranges and slopes.

Most regret bounds are in units of the range of the losses, so every loss declares its range. A
convex loss has a slope too, with which `rounds` charges the experts. A loss knows no learner.
"""
