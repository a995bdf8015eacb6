import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric as PromMetric,
  Registry,
} from 'prom-client';

/** A metric that a feature updates and that `/metrics` shows. */
export type Metric = PromMetric;

/** Makes the text of `/metrics` (Prometheus text format): the figures of the process and `metrics`. */
export const createMetrics = (
  metrics: readonly Metric[],
): { read(): Promise<{ contentType: string; text: string }> } => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const metric of metrics) registry.registerMetric(metric);
  return {
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
};

type Labels<L extends string> = readonly L[];

/**
 * A count that only grows. Its name ends in `_total`. `collect`, for a count kept elsewhere, sets it each time
 * `/metrics` is read.
 */
export const counter = <L extends string = never>(
  name: string,
  help: string,
  labelNames: Labels<L> = [],
  collect?: (counter: Counter<L>) => void,
) =>
  new Counter<L>({
    name,
    help,
    labelNames,
    registers: [],
    ...(collect
      ? {
          collect(this: Counter<L>) {
            collect(this);
          },
        }
      : {}),
  });

/** A value that goes up and down. `collect` sets it each time `/metrics` is read. */
export const gauge = <L extends string = never>(
  name: string,
  help: string,
  labelNames: Labels<L>,
  collect: (gauge: Gauge<L>) => void | Promise<void>,
) =>
  new Gauge<L>({
    name,
    help,
    labelNames,
    registers: [],
    collect(this: Gauge<L>) {
      return collect(this);
    },
  });

/** Durations in seconds, or whatever the name says. `buckets` are upper bounds. */
export const histogram = <L extends string = never>(
  name: string,
  help: string,
  buckets: number[],
  labelNames: Labels<L> = [],
) => new Histogram({ name, help, labelNames, buckets, registers: [] });
