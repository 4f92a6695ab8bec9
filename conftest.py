"""The fixtures and rules of all tests, those of the product in tests/ and those of the laboratory in lab/lab_tests."""

pytest_plugins = ("tests.plugin",)
