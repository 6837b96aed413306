"""Commands that find, show, change and publish approved memory."""
