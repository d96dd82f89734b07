"""CME market data and order entry: a strategy in fifteen lines."""

from importlib.metadata import version as _version

from ._columns import Columns, read
from ._errors import Error, PriceError, SendError
from ._native import (
    Book,
    BookEvent,
    CancelOrder,
    Context,
    Exchange,
    Feed,
    Fill,
    Instrument,
    Level,
    MarketMessage,
    MassCancel,
    NewOrder,
    Order,
    OrderEvent,
    OrderMessage,
    Price,
    ReplaceOrder,
    Session,
    Statistic,
    Status,
    StopHandle,
    TradeEvent,
    Trader,
    is_accelerated,
)
from ._strategy import Strategy

__version__ = _version("hairpin")

__all__ = [
    "Book",
    "BookEvent",
    "CancelOrder",
    "Columns",
    "Context",
    "Error",
    "Exchange",
    "Feed",
    "Fill",
    "Instrument",
    "Level",
    "MarketMessage",
    "MassCancel",
    "NewOrder",
    "Order",
    "OrderEvent",
    "OrderMessage",
    "Price",
    "PriceError",
    "ReplaceOrder",
    "SendError",
    "Session",
    "Statistic",
    "Status",
    "StopHandle",
    "Strategy",
    "TradeEvent",
    "Trader",
    "__version__",
    "is_accelerated",
    "read",
]
