import { ownsTrace } from '../conversations/index.ts';
import type { Feature, Services } from '../feature.ts';
import { gauge } from '../lib/metrics.ts';
import type { SpanSink, Telemetry } from '../telemetry/index.ts';
import { workItemCalls } from '../work-items/index.ts';
import { readStoreState } from './part-store.ts';
import { dropAllParts, PartKeeper } from './retention.ts';
import { traceRoutes } from './routes.ts';
import { storeStateOf } from './state.ts';
import { TraceWriter } from './writer.ts';

/** The store of traces: what telemetry writes to, and the keeper of its parts. */
export interface TraceStore {
  sink: SpanSink;
  keeper: PartKeeper;
}

/** The store of traces. Telemetry needs it, and the API of traces needs telemetry. */
export const createTraceStore = ({ db, settings, log }: Services): TraceStore => {
  const writer: TraceWriter = new TraceWriter(db, (bytes) => keeper.wrote(bytes));
  const keeper = new PartKeeper({ db, settings, writer, log });
  return {
    keeper,
    sink: {
      mostBehind: 256 * 1024 * 1024,
      routes: () => settings.get().TRACE_STORE,
      spansPerSecond: () => settings.get().TRACE_STORE_SPANS_PER_SECOND,
      store: (...given) => writer.store(...given),
      skip: (...given) => writer.skip(...given),
    },
  };
};

interface TraceNeeds {
  store: TraceStore;
  telemetry: Pick<Telemetry['path'], 'sinkHealth' | 'ownSinkHealth'>;
}

/** Traces that the platform keeps, for its own pages and for who has no tracing backend. */
export const createTraces = ({ db, settings }: Services, { store, telemetry }: TraceNeeds): Feature => {
  const { keeper } = store;
  const state = async () => {
    const { TRACE_STORE } = settings.get();
    return storeStateOf(TRACE_STORE, await telemetry.sinkHealth(), await db.run(readStoreState));
  };
  return {
    tag: {
      name: 'Traces',
      description: 'The traces that the platform keeps: of its agents, and those that it received.',
    },
    routes: traceRoutes({
      db,
      state,
      isSeenBy: async (executor, traceId, principal) =>
        (await workItemCalls.hasTrace(executor, traceId)) || ownsTrace(executor, traceId, principal.id),
      findStep: workItemCalls.findSpanStep,
      deleteAll: dropAllParts,
    }),
    metrics: [
      gauge(
        'agent_platform_trace_store_spans',
        'Spans of the telemetry log that this replica stores, by where they are; `expired` is the same on all replicas',
        ['state'],
        async (metric) => {
          const own = await telemetry.ownSinkHealth();
          metric.reset();
          if (!own) return;
          const { stored, dropped, queued, expired } = storeStateOf(
            'agents',
            own,
            await db.run(readStoreState),
          );
          for (const [name, spans] of Object.entries({ stored, dropped, queued, expired })) {
            metric.set({ state: name }, spans);
          }
        },
      ),
      gauge(
        'agent_platform_trace_store_bytes',
        'Bytes that the stored traces take in the database; the same on all replicas',
        [],
        async (metric) => metric.set((await db.run(readStoreState)).bytes),
      ),
      gauge(
        'agent_platform_trace_store_lag_seconds',
        'Age of the oldest span that is not in the store of traces yet',
        [],
        async (metric) => metric.set((await telemetry.ownSinkHealth())?.backlog_age_seconds ?? 0),
      ),
    ],
    loops: [
      {
        role: 'delivery',
        start: () => keeper.start(),
        stop: () => keeper.stop(),
        pass: () => keeper.pass(),
      },
    ],
    start: async () => settings.onChange(() => keeper.wake()),
  };
};
