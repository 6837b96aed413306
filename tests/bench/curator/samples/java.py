"""An order service in Java."""

from tests.bench.curator.samples.project import Project, Target


RETRY = """\
package com.acme.orders;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;

/** Retries calls to other services. */
public final class Retries {

    private static final Set<Integer> RETRYABLE = Set.of(408, 429, 502, 503, 504);

    private final RandomGenerator random;
    private final int attempts;

    public Retries(RandomGenerator random, int attempts) {
        this.random = random;
        this.attempts = attempts;
    }

    static boolean isRetryable(Exception error) {
        return error instanceof CallFailed failed && RETRYABLE.contains(failed.status());
    }

    <<< nextDelay
    /**
     * Returns how long to wait before an attempt.
     *
     * @param attempt counted from 1
     */
    static Duration nextDelay(int attempt, RandomGenerator random) {
        if (attempt < 1) {
            throw new IllegalArgumentException("attempts are counted from 1");
        }
        final long ceiling = 45_000;
        long delay = Math.min(ceiling, 200L << Math.min(attempt - 1, 16));
        long spread = delay / 5;
        return Duration.ofMillis(delay - spread + random.nextLong(2 * spread + 1));
    }

    >>> nextDelay
    /** Calls until it succeeds, or until there are no attempts left. */
    public <T> T call(Callable<T> task) throws Exception {
        for (int attempt = 1; ; attempt++) {
            try {
                return task.call();
            } catch (Exception error) {
                if (attempt >= attempts || !isRetryable(error)) {
                    throw error;
                }
                Thread.sleep(nextDelay(attempt, random).toMillis());
            }
        }
    }
}
"""

SERVICE = """\
package com.acme.orders;

import java.math.BigDecimal;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Places and cancels orders. */
public class OrderService {

    private final OrderRepository orders;
    private final Clock clock;

    public OrderService(OrderRepository orders, Clock clock) {
        this.orders = orders;
        this.clock = clock;
    }

    public Order place(String customer, List<Order.Item> items) {
        if (items.isEmpty()) {
            throw new IllegalArgumentException("an order needs an item");
        }
        Order order = new Order(customer, items, Instant.now(clock));
        return orders.save(order);
    }

    <<< cancel
    /**
     * Cancels an order and refunds it.
     */
    public Optional<Refund> cancel(String id, String reason) {
        final int hours = 48;
        Order order = orders.find(id).orElseThrow(() -> new UnknownOrder(id));
        if (order.isShipped()) {
            return Optional.empty();
        }
        Instant latest = order.placed().plusSeconds(hours * 3600L);
        BigDecimal amount = order.total();
        if (Instant.now(clock).isAfter(latest)) {
            amount = amount.multiply(new BigDecimal("0.90"));
        }
        orders.save(order.cancelled(reason));
        return Optional.of(new Refund(order.id(), amount));
    }

    >>> cancel
    public List<Order> openOrders(String customer) {
        return orders.ofCustomer(customer).stream().filter(order -> !order.isShipped()).toList();
    }
}
"""

LIMITS = """\
package com.acme.orders;

import java.math.BigDecimal;
import java.util.List;

/** Thrown when an order is larger than what is allowed. */
class TooLarge extends RuntimeException {
    TooLarge(String message) {
        super(message);
    }
}

<<< OrderLimits
/** What one order may contain. */
record OrderLimits(int items, BigDecimal total, List<String> countries) {

    static final OrderLimits DEFAULT = new OrderLimits(40, new BigDecimal("2500.00"), List.of("DE", "AT", "CH"));

    void check(Order order) {
        if (order.items().size() > items) {
            throw new TooLarge("at most " + items + " items");
        }
        if (order.total().compareTo(total) > 0) {
            throw new TooLarge("at most " + total);
        }
    }
}

>>> OrderLimits
/** Limits of customers who have their own. */
final class CustomerLimits {

    private CustomerLimits() {}

    static OrderLimits of(String customer) {
        if (customer.startsWith("B2B-")) {
            return new OrderLimits(400, new BigDecimal("50000.00"), List.of("DE", "AT", "CH", "FR"));
        }
        return OrderLimits.DEFAULT;
    }
}
"""

ORDER = """\
package com.acme.orders;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** An order. It doesn't change. A change makes another order. */
public record Order(String id, String customer, List<Item> items, Instant placed, State state) {

    public enum State { OPEN, SHIPPED, CANCELLED }

    public record Item(String sku, int count, BigDecimal price) {
        BigDecimal total() {
            return price.multiply(BigDecimal.valueOf(count));
        }
    }

    public Order(String customer, List<Item> items, Instant placed) {
        this(UUID.randomUUID().toString(), customer, List.copyOf(items), placed, State.OPEN);
    }

    public BigDecimal total() {
        return items.stream().map(Item::total).reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    public boolean isShipped() {
        return state == State.SHIPPED;
    }

    public Order cancelled(String reason) {
        return new Order(id, customer, items, placed, State.CANCELLED);
    }
}
"""

PATHS = "src/main/java/com/acme/orders"
BILLING = "src/main/java/com/acme/sales"
PROJECT = Project(
    files={
        f"{PATHS}/Retries.java": RETRY,
        f"{PATHS}/OrderService.java": SERVICE,
        f"{PATHS}/OrderLimits.java": LIMITS,
        f"{PATHS}/Order.java": ORDER,
        "pom.xml": "<project>\n  <artifactId>orders</artifactId>\n  <version>1.8.2</version>\n</project>\n",
    },
    remark="//",
    helper="""\
    private static String shortened(String text, int most) {
        if (text.length() <= most) {
            return text;
        }
        return text.substring(0, most) + "…";
    }

""",
    targets=(
        Target(
            path=f"{PATHS}/Retries.java",
            symbol="Retries.nextDelay",
            claim="Calls are retried with a delay that doubles up to 45 seconds.",
            formatting=(
                "        long delay = Math.min(ceiling, 200L << Math.min(attempt - 1, 16));\n",
                "        long delay =\n                Math.min(\n                        ceiling, 200L << Math.min(attempt - 1, 16));\n",
            ),
            docs=(
                "Returns how long to wait before an attempt.",
                "Returns the wait before an attempt. It differs a little each time.",
            ),
            signature=(
                "(int attempt, RandomGenerator random)",
                "(int attempt, Duration base, RandomGenerator random)",
            ),
            constant=("ceiling = 45_000", "ceiling = 5_000"),
            logic=("200L << Math.min(attempt - 1, 16)", "200L * attempt"),
            other=("Set.of(408, 429, 502, 503, 504)", "Set.of(408, 425, 429, 502, 503, 504)"),
            renamed="delayBefore",
            renamed_file=(f"{BILLING}/Retries.java", "package com.acme.orders;|package com.acme.sales;"),
            moved_to=f"{PATHS}/Order.java",
            before="    public boolean isShipped() {",
        ),
        Target(
            path=f"{PATHS}/OrderService.java",
            symbol="OrderService.cancel",
            claim="Orders that are cancelled within 48 hours are refunded in full, later ones at 90 percent.",
            formatting=(
                "        if (order.isShipped()) {\n            return Optional.empty();\n        }\n",
                "        if (order.isShipped())\n        {\n            return Optional.empty();\n        }\n\n",
            ),
            docs=(
                "Cancels an order and refunds it.",
                "Cancels an order that wasn't shipped, and refunds what was paid.",
            ),
            signature=(
                "cancel(String id, String reason)",
                "cancel(String id, String reason, boolean byCustomer)",
            ),
            constant=("hours = 48", "hours = 12"),
            logic=(".isAfter(latest)", ".isBefore(latest)"),
            other=('throw new IllegalArgumentException("an order needs an item");', "return null;"),
            renamed="withdraw",
            renamed_file=(f"{BILLING}/OrderService.java", "package com.acme.orders;|package com.acme.sales;"),
            moved_to=f"{PATHS}/Retries.java",
            before="    /** Calls until it succeeds",
        ),
        Target(
            path=f"{PATHS}/OrderLimits.java",
            symbol="OrderLimits",
            claim="An order has at most 40 items and costs at most 2500.",
            formatting=(
                '    static final OrderLimits DEFAULT = new OrderLimits(40, new BigDecimal("2500.00"), List.of("DE", "AT", "CH"));\n',
                '    static final OrderLimits DEFAULT =\n            new OrderLimits(40, new BigDecimal("2500.00"),\n                    List.of("DE", "AT", "CH"));\n',
            ),
            docs=("What one order may contain.", "The most that one order may contain and cost."),
            signature=(
                "(int items, BigDecimal total, List<String> countries)",
                "(int items, BigDecimal total, BigDecimal weight, List<String> countries)",
            ),
            constant=("OrderLimits(40,", "OrderLimits(99,"),
            logic=("if (order.total().compareTo(total) > 0) {", "if (order.total().compareTo(total) >= 0) {"),
            other=('customer.startsWith("B2B-")', 'customer.startsWith("BUS-")'),
            helper="""\
/** Texts for logs. */
final class Texts {
    private Texts() {}

    static String shortened(String text, int most) {
        return text.length() <= most ? text : text.substring(0, most) + "…";
    }
}

""",
            renamed="OrderBounds",
            renamed_file=(f"{BILLING}/OrderLimits.java", "package com.acme.orders;|package com.acme.sales;"),
            moved_to=f"{PATHS}/Order.java",
        ),
    ),
)
