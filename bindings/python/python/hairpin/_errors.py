"""The exceptions of the package."""


class Error(Exception):
    """An error that prevents or ends a run, in one line."""


class SendError(Error):
    """A message was not sent. The session continues."""


class PriceError(Error, ValueError):
    """A text is no price, or a price is off tick or out of range."""


for _class in (Error, SendError, PriceError):
    _class.__module__ = "hairpin"
