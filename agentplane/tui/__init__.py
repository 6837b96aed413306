"""The screens of the terminal interface. The rules of the memory are in the packages below this one."""
