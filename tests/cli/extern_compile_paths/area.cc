// The compiler of this test does not read it.
