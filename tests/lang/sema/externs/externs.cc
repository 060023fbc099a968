// Checked programs only have it; nothing compiles it.
