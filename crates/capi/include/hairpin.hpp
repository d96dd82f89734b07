// CME market data and order entry in C++17, header-only, on the C ABI of hairpin.h.
//
// A program derives from hairpin::Strategy and passes the object to Feed, Session or Trader. `run`
// calls only the callbacks that the class overrides, without virtual dispatch. An exception of a
// callback ends the run, and `run` throws it again. The guide is docs/guide/programs.md.
#ifndef HAIRPIN_HPP
#define HAIRPIN_HPP

#include "hairpin.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <iostream>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hairpin {

/// An error: its code, and one line of text.
class Error : public std::runtime_error {
public:
    Error(int code, const std::string& text) : std::runtime_error(text), code_(code) {}
    /// The code, a negative number of `hairpin_error`.
    int code() const noexcept { return code_; }

private:
    int code_;
};

namespace detail {
/// Returns `code` if it is not negative, and throws the thread's last error otherwise.
inline int check(int code) {
    if (code < 0) throw Error(code, hairpin_last_error());
    return code;
}
} // namespace detail

/// A text of at most N - 1 bytes. It allocates nothing.
template <std::size_t N> class Text {
public:
    /// Fills the text with a function of hairpin.h, which receives the buffer and its size.
    template <class Write> static Text from(Write&& write) {
        Text text;
        detail::check(write(text.bytes_, N));
        text.length_ = std::strlen(text.bytes_);
        return text;
    }
    operator std::string_view() const noexcept { return {bytes_, length_}; }
    std::string str() const { return std::string(std::string_view(*this)); }
    const char* c_str() const noexcept { return bytes_; }
    bool empty() const noexcept { return length_ == 0; }
    friend std::ostream& operator<<(std::ostream& out, const Text& text) {
        return out << std::string_view(text);
    }

private:
    char bytes_[N] = {};
    std::size_t length_ = 0;
};

/// A value, or the error for which there is none.
template <class T> class Result {
public:
    Result(T value) : value_(std::move(value)) {}
    static Result failure(int code) {
        Result result;
        result.code_ = code;
        result.error_ = hairpin_last_error();
        return result;
    }
    explicit operator bool() const noexcept { return value_.has_value(); }
    /// The value; throws Error without one.
    const T& value() const {
        if (!value_) throw Error(code_, error_);
        return *value_;
    }
    const T& operator*() const { return value(); }
    const T* operator->() const { return &value(); }
    int code() const noexcept { return code_; }
    const std::string& error() const noexcept { return error_; }

private:
    Result() = default;
    std::optional<T> value_;
    int code_ = 0;
    std::string error_;
};

/// The success of a request that returns nothing.
struct Done {};

namespace detail {
template <class T> Result<T> result(int code, T value) {
    return code < 0 ? Result<T>::failure(code) : Result<T>(std::move(value));
}
} // namespace detail

/// SecurityID (48).
struct SecurityId {
    std::int32_t value = 0;
    friend bool operator==(SecurityId a, SecurityId b) { return a.value == b.value; }
    friend bool operator!=(SecurityId a, SecurityId b) { return a.value != b.value; }
    friend bool operator<(SecurityId a, SecurityId b) { return a.value < b.value; }
    friend std::ostream& operator<<(std::ostream& out, SecurityId id) { return out << id.value; }
};

/// OrderID (37); 0 for an order that was never accepted.
struct OrderId {
    std::uint64_t value = 0;
    friend bool operator==(OrderId a, OrderId b) { return a.value == b.value; }
    friend bool operator!=(OrderId a, OrderId b) { return a.value != b.value; }
    friend std::ostream& operator<<(std::ostream& out, OrderId id) { return out << id.value; }
};

/// A number of contracts.
struct Quantity {
    std::uint64_t value = 0;
    friend bool operator==(Quantity a, Quantity b) { return a.value == b.value; }
    friend bool operator!=(Quantity a, Quantity b) { return a.value != b.value; }
    friend bool operator<(Quantity a, Quantity b) { return a.value < b.value; }
    friend std::ostream& operator<<(std::ostream& out, Quantity it) { return out << it.value; }
};

/// The number of a market data channel, as in config.xml.
struct ChannelId {
    ChannelId(std::uint32_t number = 0) : value(number) {}
    std::uint32_t value;
};

/// ClOrdID (11).
class ClOrdId {
public:
    ClOrdId() = default;
    explicit ClOrdId(const hairpin_cl_ord_id& raw) : raw_(raw) {}
    std::string_view text() const noexcept { return raw_.text; }
    const hairpin_cl_ord_id* raw() const noexcept { return &raw_; }
    friend bool operator==(const ClOrdId& a, const ClOrdId& b) { return a.text() == b.text(); }
    friend bool operator!=(const ClOrdId& a, const ClOrdId& b) { return !(a == b); }
    friend bool operator<(const ClOrdId& a, const ClOrdId& b) { return a.text() < b.text(); }
    friend std::ostream& operator<<(std::ostream& out, const ClOrdId& id) {
        return out << id.text();
    }

private:
    hairpin_cl_ord_id raw_ = {};
};

enum class Side { none = HAIRPIN_SIDE_NONE, buy = HAIRPIN_SIDE_BUY, sell = HAIRPIN_SIDE_SELL };

enum class OrderState {
    other = HAIRPIN_ORDER_STATE_OTHER,
    working = HAIRPIN_ORDER_STATE_WORKING,
    pending_replace = HAIRPIN_ORDER_STATE_PENDING_REPLACE,
    pending_cancel = HAIRPIN_ORDER_STATE_PENDING_CANCEL,
    replace_rejected = HAIRPIN_ORDER_STATE_REPLACE_REJECTED,
    cancel_rejected = HAIRPIN_ORDER_STATE_CANCEL_REJECTED,
    filled = HAIRPIN_ORDER_STATE_FILLED,
    canceled = HAIRPIN_ORDER_STATE_CANCELED,
    expired = HAIRPIN_ORDER_STATE_EXPIRED,
    rejected = HAIRPIN_ORDER_STATE_REJECTED,
    not_applied = HAIRPIN_ORDER_STATE_NOT_APPLIED,
    pending = HAIRPIN_ORDER_STATE_PENDING,
};

enum class FillKind {
    other = HAIRPIN_FILL_KIND_OTHER,
    outright = HAIRPIN_FILL_KIND_OUTRIGHT,
    spread = HAIRPIN_FILL_KIND_SPREAD,
    spread_leg = HAIRPIN_FILL_KIND_SPREAD_LEG,
    correction = HAIRPIN_FILL_KIND_CORRECTION,
    bust = HAIRPIN_FILL_KIND_BUST,
};

enum class Wait {
    epoll = HAIRPIN_WAIT_EPOLL,
    block = HAIRPIN_WAIT_BLOCK,
    poll = HAIRPIN_WAIT_POLL,
    spin = HAIRPIN_WAIT_SPIN,
    io_uring = HAIRPIN_WAIT_IO_URING,
};

enum class OrderType {
    limit = HAIRPIN_ORDER_TYPE_LIMIT,
    market = HAIRPIN_ORDER_TYPE_MARKET,
    market_limit = HAIRPIN_ORDER_TYPE_MARKET_LIMIT,
    stop = HAIRPIN_ORDER_TYPE_STOP,
    stop_limit = HAIRPIN_ORDER_TYPE_STOP_LIMIT,
};

enum class TimeInForce {
    day = HAIRPIN_TIME_IN_FORCE_DAY,
    good_till_cancel = HAIRPIN_TIME_IN_FORCE_GOOD_TILL_CANCEL,
    good_till_date = HAIRPIN_TIME_IN_FORCE_GOOD_TILL_DATE,
    fill_and_kill = HAIRPIN_TIME_IN_FORCE_FILL_AND_KILL,
    fill_or_kill = HAIRPIN_TIME_IN_FORCE_FILL_OR_KILL,
    good_for_session = HAIRPIN_TIME_IN_FORCE_GOOD_FOR_SESSION,
};

/// A wire price: an exact decimal with nine places. Operators saturate; every send refuses a
/// saturated price.
class Price {
public:
    constexpr Price() = default;
    static constexpr Price from_mantissa(std::int64_t mantissa) { return Price(mantissa); }
    /// Parses a wire price such as `450025` or `-0.25`; throws Error.
    static Price parse(const std::string& text) {
        hairpin_price mantissa = 0;
        detail::check(hairpin_price_parse(text.c_str(), &mantissa));
        return Price(mantissa);
    }
    /// The mantissa in units of 10^-9.
    constexpr std::int64_t mantissa() const noexcept { return mantissa_; }
    constexpr bool is_saturated() const noexcept {
        return mantissa_ == INT64_MAX || mantissa_ == INT64_MIN;
    }
    Text<32> text() const {
        return Text<32>::from(
            [this](char* bytes, std::size_t n) { return hairpin_price_text(mantissa_, bytes, n); });
    }
    friend Price operator+(Price a, Price b) {
        return Price(hairpin_price_add(a.mantissa_, b.mantissa_));
    }
    friend Price operator-(Price a, Price b) {
        return Price(hairpin_price_subtract(a.mantissa_, b.mantissa_));
    }
    friend Price operator*(Price price, std::int64_t count) {
        return Price(hairpin_price_multiply(price.mantissa_, count));
    }
    friend constexpr bool operator==(Price a, Price b) { return a.mantissa_ == b.mantissa_; }
    friend constexpr bool operator!=(Price a, Price b) { return a.mantissa_ != b.mantissa_; }
    friend constexpr bool operator<(Price a, Price b) { return a.mantissa_ < b.mantissa_; }
    friend constexpr bool operator>(Price a, Price b) { return a.mantissa_ > b.mantissa_; }
    friend constexpr bool operator<=(Price a, Price b) { return a.mantissa_ <= b.mantissa_; }
    friend constexpr bool operator>=(Price a, Price b) { return a.mantissa_ >= b.mantissa_; }
    friend std::ostream& operator<<(std::ostream& out, Price price) { return out << price.text(); }

private:
    explicit constexpr Price(std::int64_t mantissa) : mantissa_(mantissa) {}
    std::int64_t mantissa_ = 0;
};

/// True if the messages of a socket bypass the kernel now, because `hairpin run` started this
/// process.
inline bool is_accelerated(int fd) { return hairpin_is_accelerated(fd) == 1; }

namespace detail {
inline std::optional<Price> price(hairpin_price mantissa) {
    if (mantissa == HAIRPIN_NO_PRICE) return std::nullopt;
    return Price::from_mantissa(mantissa);
}
} // namespace detail

/// A price level of a book.
struct Level {
    Price price;
    Quantity quantity;
    std::uint32_t orders = 0;
};

namespace detail {
inline std::optional<Level> level(const hairpin_level& raw) {
    if (!raw.is_present) return std::nullopt;
    return Level{Price::from_mantissa(raw.price), Quantity{raw.quantity}, raw.orders};
}
} // namespace detail

/// An instrument: display prices and ticks. Valid inside the callback.
class Instrument {
public:
    Instrument(hairpin_context* context, std::int32_t id) : context_(context), id_(id) {}
    SecurityId security_id() const noexcept { return {id_}; }
    Text<64> symbol() const {
        return Text<64>::from([this](char* text, std::size_t size) {
            return hairpin_symbol(context_, id_, text, size);
        });
    }
    /// Parses a display price, such as `4500.25` or `108'185`. A price off tick is an error with
    /// both neighbors.
    Result<Price> parse(const std::string& text) const {
        hairpin_price price = 0;
        const int code = hairpin_instrument_parse(context_, id_, text.c_str(), &price);
        return detail::result(code, Price::from_mantissa(price));
    }
    /// The price as displayed.
    Text<48> display(Price price) const {
        return Text<48>::from([&](char* text, std::size_t size) {
            return hairpin_instrument_display(context_, id_, price.mantissa(), text, size);
        });
    }
    /// The price `ticks` ticks above `price`, or below it if `ticks` is negative.
    std::optional<Price> add_ticks(Price price, std::int64_t ticks) const {
        hairpin_price sum = 0;
        const int code = hairpin_instrument_add_ticks(context_, id_, price.mantissa(), ticks, &sum);
        if (code == HAIRPIN_ERROR_PRICE || code == HAIRPIN_ERROR_NOT_FOUND) return std::nullopt;
        detail::check(code);
        return Price::from_mantissa(sum);
    }
    bool is_on_tick(Price price) const {
        const int code = hairpin_instrument_is_on_tick(context_, id_, price.mantissa());
        return code != HAIRPIN_ERROR_NOT_FOUND && detail::check(code) == 1;
    }
    /// The fields of the definition, or nothing before it was received.
    std::optional<hairpin_instrument> definition() const {
        hairpin_instrument raw;
        const int code = hairpin_find_instrument(context_, id_, &raw);
        if (code == HAIRPIN_ERROR_NOT_FOUND) return std::nullopt;
        detail::check(code);
        return raw;
    }

private:
    hairpin_context* context_;
    std::int32_t id_;
};

/// A book. Valid inside the callback.
class Book {
public:
    Book(hairpin_context* context, std::int32_t id) : context_(context), id_(id) {}
    SecurityId security_id() const noexcept { return {id_}; }
    Instrument instrument() const { return Instrument(context_, id_); }
    Text<64> symbol() const { return instrument().symbol(); }
    bool is_in_sync() const { return detail::check(hairpin_book_is_in_sync(context_, id_)) == 1; }
    std::optional<Level> best_bid() const { return level(Side::buy, 0); }
    std::optional<Level> best_ask() const { return level(Side::sell, 0); }
    /// A level of one side; 0 is the best.
    std::optional<Level> level(Side side, std::size_t number) const {
        hairpin_level raw;
        const int code =
            hairpin_book_level(context_, id_, static_cast<std::int32_t>(side), number, &raw);
        detail::check(code);
        return detail::level(raw);
    }
    /// The best bid as text: `12 x 4500.25`, or `-` without a bid.
    Text<64> bid() const { return best(Side::buy); }
    /// The best ask as text.
    Text<64> ask() const { return best(Side::sell); }

protected:
    hairpin_context* context_;

private:
    Text<64> best(Side side) const {
        return Text<64>::from([&](char* text, std::size_t size) {
            return hairpin_best_text(context_, id_, static_cast<std::int32_t>(side), text, size);
        });
    }
    std::int32_t id_;
};

/// A change of a book. The matching event is complete, and all books are consistent.
class BookEvent : public Book {
public:
    BookEvent(const hairpin_book_event& raw, hairpin_context* context)
        : Book(context, raw.security_id), raw_(raw) {}
    bool best_price_changed() const noexcept { return raw_.best_price_changed; }
    bool is_resent() const noexcept { return raw_.is_resent; }
    std::optional<Level> best_bid() const { return detail::level(raw_.best_bid); }
    std::optional<Level> best_ask() const { return detail::level(raw_.best_ask); }
    std::uint8_t changes() const noexcept { return raw_.changes; }
    /// TransactTime (60) in nanoseconds since 1970.
    std::uint64_t transact_time() const noexcept { return raw_.transact_time; }
    /// The receive timestamp in nanoseconds since 1970; 0 if not available.
    std::uint64_t received() const noexcept { return raw_.received; }
    const hairpin_book_event& raw() const noexcept { return raw_; }

private:
    const hairpin_book_event& raw_;
};

/// A trade of the market.
class TradeEvent {
public:
    TradeEvent(const hairpin_trade_event& raw, hairpin_context* context)
        : raw_(raw), context_(context) {}
    SecurityId security_id() const noexcept { return {raw_.security_id}; }
    Instrument instrument() const { return Instrument(context_, raw_.security_id); }
    Price price() const noexcept { return Price::from_mantissa(raw_.price); }
    Quantity quantity() const noexcept { return {raw_.quantity}; }
    Side aggressor() const noexcept { return static_cast<Side>(raw_.aggressor); }
    bool is_resent() const noexcept { return raw_.is_resent; }
    std::uint64_t transact_time() const noexcept { return raw_.transact_time; }
    const hairpin_trade_event& raw() const noexcept { return raw_; }

private:
    const hairpin_trade_event& raw_;
    hairpin_context* context_;
};

namespace detail {
/// The fields and texts that orders and fills have.
template <class Raw> class OrderFields {
public:
    OrderFields(const Raw& raw, hairpin_context* context) : raw_(raw), context_(context) {}
    ClOrdId cl_ord_id() const { return ClOrdId(raw_.cl_ord_id); }
    OrderId order_id() const noexcept { return {raw_.order_id}; }
    SecurityId security_id() const noexcept { return {raw_.security_id}; }
    Text<64> symbol() const { return Instrument(context_, raw_.security_id).symbol(); }
    Side side() const noexcept { return static_cast<Side>(raw_.side); }
    std::optional<Price> price() const { return detail::price(raw_.price); }
    Quantity open() const noexcept { return {raw_.open}; }
    Quantity filled() const noexcept { return {raw_.filled}; }
    bool is_redelivered() const noexcept { return raw_.is_redelivered; }
    const Raw& raw() const noexcept { return raw_; }
    /// The event in one line.
    Text<512> text() const {
        return Text<512>::from([this](char* text, std::size_t size) {
            return hairpin_event_text(context_, text, size);
        });
    }
    friend std::ostream& operator<<(std::ostream& out, const OrderFields& event) {
        return out << event.text();
    }

protected:
    const Raw& raw_;
    hairpin_context* context_;
};
} // namespace detail

/// A report on an order, except for its trades, which are Fills.
class OrderEvent : public detail::OrderFields<hairpin_order_event> {
public:
    using OrderFields::OrderFields;
    OrderState state() const noexcept { return static_cast<OrderState>(raw_.state); }
    Quantity quantity() const noexcept { return {raw_.quantity}; }
    /// The exchange's reason for a reject; empty without one.
    Text<320> reason() const {
        return Text<320>::from([this](char* text, std::size_t size) {
            return hairpin_reason_text(context_, text, size);
        });
    }
};

/// A trade of an order, or a correction or bust of one.
class Fill : public detail::OrderFields<hairpin_fill> {
public:
    using OrderFields::OrderFields;
    FillKind kind() const noexcept { return static_cast<FillKind>(raw_.kind); }
    Price last_price() const noexcept { return Price::from_mantissa(raw_.last_price); }
    Quantity last_quantity() const noexcept { return {raw_.last_quantity}; }
    std::uint64_t exec_id() const noexcept { return raw_.exec_id; }
};

/// The terms of an order for Context::send.
struct NewOrder {
    SecurityId security_id;
    Side side = Side::buy;
    Quantity quantity;
    OrderType type = OrderType::limit;
    std::optional<Price> price;
    std::optional<Price> stop_price;
    TimeInForce time_in_force = TimeInForce::day;
    /// ExpireDate (432) in days since 1970-01-01, for good till date.
    std::uint32_t expire_date = 0;
    std::uint32_t min_quantity = 0;
    std::uint32_t display_quantity = 0;

    hairpin_new_order raw() const {
        hairpin_new_order raw = {};
        raw.size = sizeof raw;
        raw.security_id = security_id.value;
        raw.side = static_cast<std::int32_t>(side);
        raw.order_type = static_cast<std::int32_t>(type);
        raw.time_in_force = static_cast<std::int32_t>(time_in_force);
        raw.price = price ? price->mantissa() : HAIRPIN_NO_PRICE;
        raw.stop_price = stop_price ? stop_price->mantissa() : HAIRPIN_NO_PRICE;
        // A quantity that does not fit is refused as 0 is.
        raw.quantity = quantity.value > UINT32_MAX ? 0 : static_cast<std::uint32_t>(quantity.value);
        raw.min_quantity = min_quantity;
        raw.display_quantity = display_quantity;
        raw.expire_date = expire_date;
        return raw;
    }
};

/// Books, orders and sessions inside one callback.
class Context {
public:
    explicit Context(hairpin_context* raw) : raw_(raw) {}
    hairpin_context* raw() const noexcept { return raw_; }
    hairpin_time now() const {
        hairpin_time time;
        detail::check(hairpin_now(raw_, &time));
        return time;
    }
    bool is_ready() const { return detail::check(hairpin_is_ready(raw_)) == 1; }
    std::optional<Book> book(SecurityId id) const {
        const int code = hairpin_book_is_in_sync(raw_, id.value);
        if (code == HAIRPIN_ERROR_NOT_FOUND) return std::nullopt;
        detail::check(code);
        return Book(raw_, id.value);
    }
    Instrument instrument(SecurityId id) const { return Instrument(raw_, id.value); }
    /// The instrument with a symbol; throws Error.
    SecurityId security_id(const std::string& symbol) const {
        SecurityId id;
        detail::check(hairpin_security_id(raw_, symbol.c_str(), &id.value));
        return id;
    }
    /// Sends a limit order to buy, for the day.
    Result<ClOrdId> buy(SecurityId id, Quantity quantity, Price price) {
        hairpin_cl_ord_id sent = {};
        const int code = hairpin_buy(raw_, id.value, quantity.value, price.mantissa(), &sent);
        return detail::result(code, ClOrdId(sent));
    }
    /// Sends a limit order to sell, for the day.
    Result<ClOrdId> sell(SecurityId id, Quantity quantity, Price price) {
        hairpin_cl_ord_id sent = {};
        const int code = hairpin_sell(raw_, id.value, quantity.value, price.mantissa(), &sent);
        return detail::result(code, ClOrdId(sent));
    }
    /// Replaces price and quantity of an order.
    Result<ClOrdId> replace(const ClOrdId& order, Quantity quantity, Price price) {
        hairpin_cl_ord_id id = {};
        const int code = hairpin_replace(raw_, order.raw(), quantity.value, price.mantissa(), &id);
        return detail::result(code, ClOrdId(id));
    }
    /// Replaces all terms of an order.
    Result<ClOrdId> replace(const ClOrdId& order, const NewOrder& terms) {
        hairpin_cl_ord_id id = {};
        const hairpin_new_order raw = terms.raw();
        const int code = hairpin_replace_order(raw_, order.raw(), &raw, &id);
        return detail::result(code, ClOrdId(id));
    }
    Result<Done> cancel(const ClOrdId& order) {
        return detail::result(hairpin_cancel(raw_, order.raw()), Done());
    }
    Result<Done> cancel_all() { return detail::result(hairpin_cancel_all(raw_), Done()); }
    /// Cancels all orders in an instrument.
    Result<Done> cancel_all(SecurityId id) {
        return detail::result(hairpin_cancel_instrument(raw_, id.value), Done());
    }
    /// Sends an order with all of its terms.
    Result<ClOrdId> send(const NewOrder& order) {
        hairpin_cl_ord_id sent = {};
        const hairpin_new_order raw = order.raw();
        const int code = hairpin_send_order(raw_, &raw, &sent);
        return detail::result(code, ClOrdId(sent));
    }
    /// Runs `send(Context&)` and writes its messages together, as one TCP segment if they fit.
    template <class Send> void batch(Send&& send) {
        struct Batch {
            Send& send;
            std::exception_ptr thrown;
        } batch{send, nullptr};
        const auto call = [](void* user, hairpin_context* raw) -> int {
            Batch& it = *static_cast<Batch*>(user);
            try {
                Context context(raw);
                it.send(context);
            } catch (...) {
                it.thrown = std::current_exception();
            }
            return 0;
        };
        const int code = hairpin_batch(raw_, call, &batch);
        if (batch.thrown) std::rethrow_exception(batch.thrown);
        detail::check(code);
    }
    /// The orders on the exchange's books.
    std::vector<hairpin_order> working() const {
        std::vector<hairpin_order> orders(
            static_cast<std::size_t>(detail::check(hairpin_working_orders(raw_, nullptr, 0))));
        detail::check(hairpin_working_orders(raw_, orders.data(), orders.size()));
        return orders;
    }
    /// An order, working or not yet acknowledged.
    std::optional<hairpin_order> order(const ClOrdId& id) const {
        hairpin_order order;
        const int code = hairpin_find_order(raw_, id.raw(), &order);
        if (code == HAIRPIN_ERROR_NOT_FOUND) return std::nullopt;
        detail::check(code);
        return order;
    }
    /// The net position in contracts.
    std::int64_t position(SecurityId id) const {
        std::int64_t position = 0;
        detail::check(hairpin_position(raw_, id.value, &position));
        return position;
    }
    ClOrdId next_cl_ord_id() {
        hairpin_cl_ord_id id = {};
        detail::check(hairpin_next_cl_ord_id(raw_, &id));
        return ClOrdId(id);
    }
    /// Calls on_timer with `timer` once, after `delay`.
    Result<Done> set_timer(std::uint64_t timer, std::chrono::nanoseconds delay) {
        const auto nanos = static_cast<std::uint64_t>(std::max<std::int64_t>(0, delay.count()));
        return detail::result(hairpin_set_timer(raw_, timer, nanos), Done());
    }
    /// Ends the run: terminates all sessions gracefully, then `run` returns.
    void stop() { detail::check(hairpin_stop_run(raw_)); }

private:
    hairpin_context* raw_;
};

/// The callbacks of a strategy. All run on the thread that calls `run` or `turn`. Arguments are
/// valid until the callback returns.
class Strategy {
public:
    virtual ~Strategy() = default;
    virtual void on_ready(Context&) {}
    virtual void on_not_ready(const hairpin_not_ready&, Context&) {}
    virtual void on_book(const BookEvent&, Context&) {}
    virtual void on_trade(const TradeEvent&, Context&) {}
    virtual void on_instrument(const hairpin_instrument&, Context&) {}
    virtual void on_status(const hairpin_status_event&, Context&) {}
    virtual void on_statistic(const hairpin_statistic_event&, Context&) {}
    virtual void on_order(const OrderEvent&, Context&) {}
    virtual void on_fill(const Fill&, Context&) {}
    virtual void on_timer(std::uint64_t, Context&) {}
    /// Prints one line to standard error by default.
    virtual void on_problem(const hairpin_problem&, Context&) {}
    virtual void on_market_message(const hairpin_market_message&, Context&) {}
    virtual void on_order_message(const hairpin_order_message&, Context&) {}
};

namespace detail {
/// A strategy of the class S, and the exception that has ended its run.
template <class S> struct Run {
    S& strategy;
    std::exception_ptr thrown;

    template <class Call> static int call(void* user, hairpin_context* raw, Call&& call) noexcept {
        Run& run = *static_cast<Run*>(user);
        try {
            Context context(raw);
            call(run.strategy, context);
            return 0;
        } catch (...) {
            run.thrown = std::current_exception();
            return 1;
        }
    }
    /// A callback whose event the strategy receives as hairpin.h defines it.
    template <class Event, void (*Forward)(S&, const Event&, Context&)>
    static int event(void* user, const Event* event, hairpin_context* raw) noexcept {
        return call(user, raw, [&](S& it, Context& context) { Forward(it, *event, context); });
    }
    /// A callback whose event the strategy receives as an object.
    template <class Event, class Raw, void (*Forward)(S&, const Event&, Context&)>
    static int object(void* user, const Raw* event, hairpin_context* raw) noexcept {
        return call(user, raw,
                    [&](S& it, Context& context) { Forward(it, Event(*event, raw), context); });
    }
    static void book(S& it, const BookEvent& e, Context& c) { it.S::on_book(e, c); }
    static void trade(S& it, const TradeEvent& e, Context& c) { it.S::on_trade(e, c); }
    static void order(S& it, const OrderEvent& e, Context& c) { it.S::on_order(e, c); }
    static void fill(S& it, const Fill& e, Context& c) { it.S::on_fill(e, c); }
    static void not_ready(S& it, const hairpin_not_ready& e, Context& c) {
        it.S::on_not_ready(e, c);
    }
    static void instrument(S& it, const hairpin_instrument& e, Context& c) {
        it.S::on_instrument(e, c);
    }
    static void status(S& it, const hairpin_status_event& e, Context& c) { it.S::on_status(e, c); }
    static void statistic(S& it, const hairpin_statistic_event& e, Context& c) {
        it.S::on_statistic(e, c);
    }
    static void problem(S& it, const hairpin_problem& e, Context& c) { it.S::on_problem(e, c); }
    static void market_message(S& it, const hairpin_market_message& e, Context& c) {
        it.S::on_market_message(e, c);
    }
    static void order_message(S& it, const hairpin_order_message& e, Context& c) {
        it.S::on_order_message(e, c);
    }
    static int ready(void* user, hairpin_context* raw) noexcept {
        return call(user, raw, [](S& it, Context& context) { it.S::on_ready(context); });
    }
    static int timer(void* user, std::uint64_t timer, hairpin_context* raw) noexcept {
        return call(user, raw, [=](S& it, Context& context) { it.S::on_timer(timer, context); });
    }

    /// The table of the callbacks that S overrides: those whose type is not the base's.
    static hairpin_callbacks callbacks() {
        static_assert(std::is_base_of_v<Strategy, S> && !std::is_same_v<Strategy, S>,
                      "pass an object of the class that overrides the callbacks");
        hairpin_callbacks table = {};
        table.size = sizeof table;
#define HAIRPIN_IF_OVERRIDDEN(name, function)                                                      \
    if constexpr (!std::is_same_v<decltype(&S::name), decltype(&Strategy::name)>)                  \
    table.name = function
        HAIRPIN_IF_OVERRIDDEN(on_ready, &ready);
        HAIRPIN_IF_OVERRIDDEN(on_timer, &timer);
        HAIRPIN_IF_OVERRIDDEN(on_book, (&object<BookEvent, hairpin_book_event, &book>));
        HAIRPIN_IF_OVERRIDDEN(on_trade, (&object<TradeEvent, hairpin_trade_event, &trade>));
        HAIRPIN_IF_OVERRIDDEN(on_order, (&object<OrderEvent, hairpin_order_event, &order>));
        HAIRPIN_IF_OVERRIDDEN(on_fill, (&object<Fill, hairpin_fill, &fill>));
        HAIRPIN_IF_OVERRIDDEN(on_not_ready, (&event<hairpin_not_ready, &not_ready>));
        HAIRPIN_IF_OVERRIDDEN(on_instrument, (&event<hairpin_instrument, &instrument>));
        HAIRPIN_IF_OVERRIDDEN(on_status, (&event<hairpin_status_event, &status>));
        HAIRPIN_IF_OVERRIDDEN(on_statistic, (&event<hairpin_statistic_event, &statistic>));
        HAIRPIN_IF_OVERRIDDEN(on_problem, (&event<hairpin_problem, &problem>));
        HAIRPIN_IF_OVERRIDDEN(on_market_message, (&event<hairpin_market_message, &market_message>));
        HAIRPIN_IF_OVERRIDDEN(on_order_message, (&event<hairpin_order_message, &order_message>));
#undef HAIRPIN_IF_OVERRIDDEN
        return table;
    }
};
} // namespace detail

/// Stops a run from any thread or signal handler.
class StopHandle {
public:
    explicit StopHandle(hairpin_trader trader) : trader_(trader) {}
    /// Requests the end of the run, which the loop reads within 100 ms.
    void stop() const noexcept { hairpin_stop(trader_); }

private:
    hairpin_trader trader_;
};

namespace detail {
/// The functions that Feed, Session and Trader have.
template <class Self> class Handle {
public:
    explicit Handle(hairpin_trader raw) : raw_(raw) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, hairpin_trader{})) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~Handle() {
        if (raw_.id != 0) hairpin_trader_close(raw_);
    }
    /// Runs until the strategy or a StopHandle stops it. Throws Error, or the exception of a
    /// callback. Terminates the sessions gracefully, and closes the handle.
    template <class S> void run(S&& strategy) {
        using Class = std::remove_reference_t<S>;
        Run<Class> run{strategy, nullptr};
        const hairpin_callbacks callbacks = Run<Class>::callbacks();
        const int code = hairpin_trader_run(raw_, &callbacks, &run);
        if (run.thrown) std::rethrow_exception(run.thrown);
        check(code);
    }
    /// Runs one iteration; returns `false` once the run has ended. Throws as `run` does.
    template <class S> bool turn(S& strategy) {
        Run<S> run{strategy, nullptr};
        static const hairpin_callbacks callbacks = Run<S>::callbacks();
        const int code = hairpin_trader_turn(raw_, &callbacks, &run);
        if (run.thrown) std::rethrow_exception(run.thrown);
        return check(code) == 1;
    }
    StopHandle stop_handle() const { return StopHandle(raw_); }
    /// Stops the run gracefully on SIGINT and SIGTERM.
    Self& stop_on_signals() {
        check(hairpin_trader_stop_on_signals(raw_));
        return static_cast<Self&>(*this);
    }
    /// The instrument with a symbol; throws Error.
    SecurityId security_id(const std::string& symbol) const {
        SecurityId id;
        check(hairpin_trader_security_id(raw_, symbol.c_str(), &id.value));
        return id;
    }
    bool is_ready() const { return check(hairpin_trader_is_ready(raw_)) == 1; }
    hairpin_trader raw() const noexcept { return raw_; }

private:
    hairpin_trader raw_;
};
} // namespace detail

/// The settings of a Feed, a Session or a Trader before it is opened.
template <class T> class Builder {
public:
    Builder(std::optional<std::string> config, std::optional<std::string> orders)
        : config_(std::move(config)), orders_(std::move(orders)) {}
    Builder& channel(ChannelId channel) {
        channels_.push_back(channel.value);
        return *this;
    }
    /// Sets the interfaces that receive sides A and B: names, or local IPv4 addresses.
    Builder& interfaces(std::string a, std::string b) {
        interface_a_ = std::move(a);
        interface_b_ = std::move(b);
        return *this;
    }
    Builder& wait(Wait wait) {
        raw_.wait = static_cast<std::int32_t>(wait);
        return *this;
    }
    /// Pins the thread that calls `run`.
    Builder& core(std::uint32_t core) {
        core_ = core;
        return *this;
    }
    /// Follows the instrument with a symbol. Without any filter, all are followed.
    Builder& symbol(std::string symbol) {
        symbols_.push_back(std::move(symbol));
        return *this;
    }
    Builder& security_group(std::string group) {
        groups_.push_back(std::move(group));
        return *this;
    }
    Builder& asset(std::string asset) {
        assets_.push_back(std::move(asset));
        return *this;
    }
    Builder& max_instruments(std::size_t count) {
        raw_.max_instruments = count;
        return *this;
    }
    Builder& natural_refresh(bool enabled) {
        raw_.natural_refresh = enabled;
        return *this;
    }
    Builder& definition_cache(std::string folder) {
        cache_ = std::move(folder);
        return *this;
    }
    Builder& recording(std::string folder) {
        recording_ = std::move(folder);
        return *this;
    }
    Builder& orders_max(std::size_t orders) {
        raw_.orders_max = orders;
        return *this;
    }
    /// Cancels all orders at the end of the run, before the sessions terminate.
    Builder& cancel_on_quit() {
        raw_.cancel_on_quit = 1;
        return *this;
    }
    /// Receives multicast over AF_XDP on an interface.
    Builder& xdp(std::string interface) {
        xdp_ = std::move(interface);
        return *this;
    }
    /// Opens feeds and sessions; throws Error. Sessions connect when the loop runs.
    T open() const {
        hairpin_settings settings = raw_;
        settings.size = sizeof settings;
        settings.config = text(config_);
        settings.orders = text(orders_);
        settings.channels = channels_.data();
        settings.channel_count = channels_.size();
        settings.interface_a = text(interface_a_);
        settings.interface_b = text(interface_b_);
        settings.core = core_ ? &*core_ : nullptr;
        settings.definition_cache = text(cache_);
        settings.recording = text(recording_);
        settings.xdp = text(xdp_);
        const auto symbols = texts(symbols_), groups = texts(groups_), assets = texts(assets_);
        settings.symbols = symbols.data();
        settings.symbol_count = symbols.size();
        settings.security_groups = groups.data();
        settings.security_group_count = groups.size();
        settings.assets = assets.data();
        settings.asset_count = assets.size();
        hairpin_trader trader = {};
        detail::check(hairpin_open(&settings, &trader));
        return T(trader);
    }

private:
    static const char* text(const std::optional<std::string>& text) {
        return text ? text->c_str() : nullptr;
    }
    static std::vector<const char*> texts(const std::vector<std::string>& texts) {
        std::vector<const char*> pointers;
        for (const std::string& text : texts) pointers.push_back(text.c_str());
        return pointers;
    }
    hairpin_settings raw_ = {};
    std::optional<std::string> config_, orders_, interface_a_, interface_b_, cache_, recording_,
        xdp_;
    std::optional<std::uint32_t> core_;
    std::vector<std::uint32_t> channels_;
    std::vector<std::string> symbols_, groups_, assets_;
};

/// Market data for one strategy.
class Feed : public detail::Handle<Feed> {
public:
    using Handle::Handle;
    /// Opens a channel of config.xml on the interface that the host's routes select.
    static Feed open(const std::string& config, ChannelId channel) {
        return builder(config).channel(channel).open();
    }
    static Builder<Feed> builder(const std::string& config) { return {config, std::nullopt}; }
};

/// Order entry for one strategy.
class Session : public detail::Handle<Session> {
public:
    using Handle::Handle;
    /// Opens the sessions of order.toml.
    static Session open(const std::string& orders) { return builder(orders).open(); }
    static Builder<Session> builder(const std::string& orders) { return {std::nullopt, orders}; }
};

/// Market data and order entry for one strategy, on one thread.
class Trader : public detail::Handle<Trader> {
public:
    using Handle::Handle;
    /// Opens a channel of config.xml and the sessions of order.toml.
    static Trader open(const std::string& config, ChannelId channel, const std::string& orders) {
        return builder(config, orders).channel(channel).open();
    }
    static Builder<Trader> builder(const std::string& config, const std::string& orders) {
        return {config, orders};
    }
};

/// Runs the body of `main`. Prints an exception in one line and returns the exit status.
template <class Body> int guard(Body&& body) {
    try {
        body();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "Error: " << error.what() << '\n';
    } catch (...) {
        std::cerr << "Error: an exception that is not a std::exception\n";
    }
    return 1;
}

} // namespace hairpin

#endif
