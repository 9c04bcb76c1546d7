"""What a run looks like from outside: its report, drawing, steps and explanation, what it waits for, and lists."""
