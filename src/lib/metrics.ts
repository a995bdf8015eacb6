import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = Registry;

/** The registry behind `/metrics`, with the process's own figures in it. */
export const createMetrics = (): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
};

type Labels<L extends string> = readonly L[];

/** A count that only grows. Names end in `_total`. */
export const counter = <L extends string = never>(
  metrics: Metrics,
  name: string,
  help: string,
  labelNames: Labels<L> = [],
) => new Counter({ name, help, labelNames, registers: [metrics] });

/** A value that goes up and down; `collect` sets it whenever it is read. */
export const gauge = <L extends string = never>(
  metrics: Metrics,
  name: string,
  help: string,
  labelNames: Labels<L> = [],
  collect?: (gauge: Gauge<L>) => void | Promise<void>,
) =>
  new Gauge<L>({
    name,
    help,
    labelNames,
    registers: [metrics],
    ...(collect
      ? {
          collect(this: Gauge<L>) {
            return collect(this);
          },
        }
      : {}),
  });

/** Durations in seconds, or whatever the name says; `buckets` are upper bounds. */
export const histogram = <L extends string = never>(
  metrics: Metrics,
  name: string,
  help: string,
  buckets: number[],
  labelNames: Labels<L> = [],
) => new Histogram({ name, help, labelNames, buckets, registers: [metrics] });
