"""Start runs by themselves: at times, and for the files of a watched folder. Temporal keeps the schedules."""
