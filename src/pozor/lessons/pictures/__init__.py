"""Pictures of the lessons, drawn from what a notebook computed."""
