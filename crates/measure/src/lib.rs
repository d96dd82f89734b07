//! Schedules, recorders, results files and tables.
