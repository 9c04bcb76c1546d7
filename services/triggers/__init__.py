"""Start runs by themselves: at times, and for files of watched folders and mails. Temporal keeps the schedules."""
