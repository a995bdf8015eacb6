import { setTimeout as sleep } from 'node:timers/promises';
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

/** The first figures of the event loop are there after two of its intervals of 10 ms. */
const firstFiguresMs = 50;

/**
 * Makes the text of `/metrics` (Prometheus text format): the figures of the process and `metrics`. Those of the event loop
 * and of the garbage collector begin with the first read: they wake the process 100 times a second, which is half of what
 * an idle platform costs, and many read no metrics.
 */
export const createMetrics = (
  metrics: readonly Metric[],
): { read(): Promise<{ contentType: string; text: string }> } => {
  const registry = new Registry();
  for (const metric of metrics) registry.registerMetric(metric);
  let begun: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    collectDefaultMetrics({ register: registry });
    return sleep(firstFiguresMs);
  };
  return {
    read: async () => {
      begun ??= begin();
      await begun;
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
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
