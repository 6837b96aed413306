"""The room that a person sees: screens over the plane. No rule lives here that the rooms below do not have."""
