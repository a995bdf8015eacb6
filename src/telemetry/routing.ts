import type { Secret } from '../lib/crypto.ts';

/**
 * Agent spans go to the integrations in scope; application and infrastructure spans only to those with `debug`. A span
 * that was received is an agent span if it names an agent, else an application span.
 */
type SpanKind = 'agent' | 'application' | 'received';

/**
 * Integrations that a span goes to at present. They are decided when a request is accepted, and stored with it.
 * Implementations work in memory: `forAgent` is called for each agent of each request.
 * An integration is known by its number: a positive integer below 2^32, given once, never reused.
 */
export interface RoutingTable {
  /**
   * - `(id, 'agent')`: the enabled integrations in scope for the agent (global and its own; of an unknown agent the
   * global ones).
   * - `(null, 'application')`: the enabled `debug` integrations.
   * - `(id, 'application')`: the enabled `debug` integrations in scope for the agent.
   * - `(id, 'received')`: as `'agent'`; `(null, 'received')`: as `'application'`.
   * - `(null, 'agent')`: does not occur.
   */
  forAgent(agentId: string | null, kind: SpanKind): readonly number[];
}

/** An integration as delivery sees it: where to, and with what headers. */
export interface Destination {
  number: number;
  /** The integration's id in the API, for logs. */
  id: string;
  provider: string;
  /** With its placeholders resolved; empty if `problem` says why that is impossible. */
  url: string;
  /** Authentication and custom headers; content-type and content-encoding are delivery's own. */
  headers: readonly (readonly [name: string, value: Secret | string])[];
  /** Attributes of every exported resource, in the place of those of the same keys. */
  resourceAttributes: Readonly<Record<string, string>>;
  enabled: boolean;
  /** Raised by every edit; a new one resumes a paused delivery at once. */
  revision: number;
  /**
   * Reason why nothing can be sent (a url that does not resolve): delivery pauses and shows this text. No secrets in
   * it.
   */
  problem?: string;
}

/** The integrations as telemetry sees them, in memory. */
export interface Destinations {
  table(): RoutingTable;
  /**
   * Undefined for a deleted integration: its backlog is then discarded and counted. So load them before delivery
   * starts.
   */
  get(number: number): Destination | undefined;
  all(): Destination[];
  /**
   * Calls `changed` after each change of what the other functions return. Returns a function that removes the listener.
   */
  onChange(changed: () => void): () => void;
}

/** Questions of telemetry about integrations that may not be in memory. */
export interface IntegrationDirectory {
  /** Returns whether there is an integration with this number in the database: memory may be a second behind. */
  exists(number: number): Promise<boolean>;
  /** The id of the integration with this number, also of a deleted one. */
  idOf(number: number): string;
}

/** The number of the sink: integrations have numbers from 1. */
export const sinkNumber = 0;

/** Spans that go to the sink: none, the platform's agent spans and every received one, or its application spans too. */
export type SinkRoutes = 'off' | 'agents' | 'all';

/**
 * The one destination inside the platform: a store, which gets spans in the order of the log. What it does with an
 * ordinal (see `Batch` of the log) is final, whichever replica asks, so that every span is stored at most once.
 */
export interface SpanSink {
  routes(): SinkRoutes;
  /** The limit for one log. */
  spansPerSecond(): number;
  /** If more bytes of a log are queued, it jumps to the newest spans: it must not hold the log for ever. */
  readonly mostBehind: number;
  /**
   * Stores requests (protobuf, in gzip or plain), whose first span has the ordinal `start`, without those that are final. Resolves to the
   * number of spans of this log that it has stored so far.
   */
  store(
    log: string,
    start: number,
    requests: readonly { bytes: Buffer; gzip: boolean; spans: number }[],
  ): Promise<number>;
  /** Stores nothing before the ordinal `through` any more. Resolves as `store`. */
  skip(log: string, through: number): Promise<number>;
}

/** `table`, with the sink among the destinations. */
export const withSink = (table: RoutingTable, routes: SinkRoutes): RoutingTable =>
  routes === 'off'
    ? table
    : {
        forAgent: (agentId, kind) => {
          const others = table.forAgent(agentId, kind);
          return kind === 'application' && routes === 'agents' ? others : [sinkNumber, ...others];
        },
      };
