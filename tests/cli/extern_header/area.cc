// See main.wf.
