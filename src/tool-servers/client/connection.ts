import {
  Client,
  type JsonSchemaValidatorResult,
  type jsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { Redactor } from '../../lib/redactor.ts';
import { version } from '../../lib/version.ts';
import { withTimeout } from '../../lib/with-timeout.ts';
import type { GivenInput } from '../../tool-inputs/index.ts';
import type { ToolDefinition } from '../definitions.ts';
import { type OpenedToolServer, secretsOf } from '../settings.ts';
import {
  askedWhile,
  type CallOutcome,
  failedCallOf,
  notConnected,
  notHere,
  outcomeOf,
} from './call-outcome.ts';
import { type CallTrace, withCallTrace } from './call-trace.ts';
import {
  ConnectionFailure,
  connectionFailureOf,
  egressErrorOf,
  ProcessFailure,
  sdkCodeOf,
  statusOf,
} from './failures.ts';
import { createServerFetch } from './http-fetch.ts';
import { CallsInFlight, elicitation, newCallInFlight } from './input.ts';
import { listTools } from './list-tools.ts';
import type { ServerMemory } from './memory.ts';
import { speaksOldTransport } from './old-transport.ts';
import { createTransport, type ServerTransport, type TransportParts } from './transport.ts';

export interface ConnectionParts extends TransportParts {
  /** The connections that may have to be closed when the platform stops. */
  live: Set<Connection>;
}

interface Call {
  definition: ToolDefinition;
  args: Record<string, unknown>;
  depth: number;
  /** True if it may be made again. */
  idempotent: boolean;
  /** What people answered, if it goes on after it asked for input. */
  input: Pick<GivenInput, 'way' | 'responses' | 'requestState' | 'answered' | 'round'> | null;
  timeoutMs: number;
  signal: AbortSignal;
}

interface Opened {
  client: Client;
  transport: ServerTransport;
  /** The protocol was not negotiated, but remembered. */
  remembered: boolean;
}

/** Time that a server may take to negotiate, in milliseconds; then, for each page of its list. */
const connectWithinMs = 10_000;
/** A local process that does not know the probe may ignore it: it is then taken for one of the older protocol. */
const probeWithinMs = 2_000;
/** The end of a session is reported to the server, but not waited for longer than this. */
const farewellWithinMs = 1_000;

const clientInfo = { name: 'agent-platform', version };

/** The definitions are checked elsewhere, within time limits. */
const noValidation: jsonSchemaValidator = {
  getValidator: <T>() => {
    return (data: unknown): JsonSchemaValidatorResult<T> => {
      const accepted = data as T;
      return { valid: true, data: accepted, errorMessage: undefined };
    };
  },
};

const hasSession = ({ transport }: Opened): boolean =>
  transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined;

/**
 * The connection of one attempt, one test or one discovery to a tool server. It is opened when it is first used, and
 * again after a local process has ended. Close it in any case.
 */
export class Connection {
  /** Replaces the secrets of the server in what it sends. */
  readonly redactor: Redactor;
  readonly #parts: ConnectionParts;
  readonly #server: OpenedToolServer;
  #opening: Promise<Opened> | null = null;
  #opened: Opened | null = null;
  readonly #used: Opened['transport'][] = [];
  #closed = false;
  /** The server named, with a 401, where people log in. */
  #wantsLogin = false;
  readonly #mayAsk: boolean;
  readonly #inFlight: CallsInFlight;

  /** `mayAsk`: tools may ask people for input. */
  constructor(parts: ConnectionParts, server: OpenedToolServer, mayAsk: boolean) {
    this.#parts = parts;
    this.#server = server;
    this.#mayAsk = mayAsk;
    this.redactor = new Redactor(secretsOf(server.settings));
    this.#inFlight = new CallsInFlight(this.redactor, () => parts.memory.callOneAtATime(server.row));
  }

  /** Opens the connection. Rejects with ConnectionFailure. */
  async open(): Promise<{ protocolVersion: string | null }> {
    const { client } = await this.#open();
    return { protocolVersion: client.getNegotiatedProtocolVersion() ?? null };
  }

  /** Lists the tools as the server describes them. Rejects with ConnectionFailure. */
  async list(): Promise<unknown[]> {
    const opened = await this.#open();
    try {
      return await listTools(opened, connectWithinMs);
    } catch (error) {
      const isGone = egressErrorOf(error) !== undefined;
      if (!opened.remembered || isGone) throw this.#failure(error, 'list_tools');
      // Remembered facts may no longer hold: the server was upgraded, or replaced.
      this.#forget();
      await this.#end(opened);
      try {
        return await listTools(await this.#open(), connectWithinMs);
      } catch (second) {
        throw this.#failure(second, 'list_tools');
      }
    }
  }

  /** Calls a tool once. Rejects only with the reason of `signal`. */
  async call(call: Call): Promise<CallOutcome> {
    // A server that has forgotten the session has not looked at the call: a new session may make it.
    return (await this.#callOnce(call, true)) ?? (await this.#callOnce(call, false))!;
  }

  /** Resolves to null if the session has ended, unless `resumes` is false. */
  async #callOnce(call: Call, resumes: boolean): Promise<CallOutcome | null> {
    const { definition, args, depth, timeoutMs, signal, input } = call;
    const end = new AbortController();
    const trace: CallTrace = {
      depth,
      sent: false,
      settled: false,
      lose: () => end.abort(),
      over: end.signal,
    };
    let opened: Opened;
    try {
      opened = await this.#open();
    } catch (error) {
      signal.throwIfAborted();
      return notConnected(this.#failure(error, 'negotiate'));
    }
    signal.throwIfAborted();
    const { name, inputSchema } = definition;
    const flight = newCallInFlight(call.idempotent, input);
    const responses = input?.way === 'result' ? input.responses : {};
    const params = {
      name,
      arguments: args,
      ...(Object.keys(responses).length > 0 ? { inputResponses: responses } : {}),
      ...(input?.requestState == null ? {} : { requestState: input.requestState }),
    };
    try {
      const result = await this.#inFlight.during(flight, () =>
        withCallTrace(trace, () =>
          opened.client.callTool(params as never, {
            signal: AbortSignal.any([signal, end.signal]),
            timeout: timeoutMs,
            toolDefinition: { name, inputSchema: inputSchema as { type: 'object' } },
            ...(this.#mayAsk ? { allowInputRequired: true } : {}),
          }),
        ),
      );
      return askedWhile(flight) ?? outcomeOf(result, flight);
    } catch (error) {
      signal.throwIfAborted();
      const status = statusOf(error);
      if (opened.remembered && status !== undefined) this.#forget();
      if (resumes && status === 404 && hasSession(opened)) {
        // Other calls may still be in progress in it: it is closed with the connection.
        this.#dropped(opened);
        return null;
      }
      const outcome = askedWhile(flight) ?? failedCallOf(error, trace.sent);
      if (outcome.kind === 'urls' && !this.#mayAsk) return { kind: 'error', message: notHere };
      if (!('message' in outcome)) return outcome;
      const message = this.redactor.text(outcome.message);
      return outcome.kind === 'error'
        ? { ...outcome, message, notes: flight.notes }
        : { ...outcome, message };
    } finally {
      trace.settled = true;
      end.abort();
    }
  }

  /** Closes the connection and ends its process. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    // A connection that is being opened is not waited for.
    await this.#end(this.#opened);
    await Promise.all(this.#used.map((transport) => transport.close().catch(() => {})));
    this.#parts.live.delete(this);
  }

  #failure(error: unknown, phase: 'negotiate' | 'list_tools'): ConnectionFailure {
    const failure = connectionFailureOf(error, phase, this.#wantsLogin);
    return new ConnectionFailure(failure.step, this.redactor.text(failure.message));
  }

  #forget(): void {
    this.#parts.memory.setVerdict(this.#server.row, null);
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#connect().then(
      (opened) => {
        this.#opened = opened;
        opened.client.onclose = () => this.#dropped(opened);
        return opened;
      },
      (error: unknown) => {
        this.#opening = null;
        throw this.#failure(error, 'negotiate');
      },
    );
    return this.#opening;
  }

  async #connect(): Promise<Opened> {
    const { memory } = this.#parts;
    const { row } = this.#server;
    const prior = memory.verdictOf(row);
    if (prior) {
      try {
        return await this.#connectOnce(prior);
      } catch (error) {
        if (egressErrorOf(error)) throw error;
        this.#forget();
      }
    }
    try {
      return await this.#connectOnce(undefined);
    } catch (error) {
      await this.#checkTransport(error);
      // A process of the older protocol may end when it gets the probe of the newer one.
      if (row.transport !== 'stdio' || sdkCodeOf(error) !== SdkErrorCode.EraNegotiationFailed) throw error;
      return this.#connectOnce({ kind: 'legacy' });
    }
  }

  /** Throws ConnectionFailure if the server speaks only a transport that the platform does not. */
  async #checkTransport(error: unknown): Promise<void> {
    const { settings } = this.#server;
    if (settings.transport !== 'http') return;
    const fetch = createServerFetch(this.#parts.egress, settings);
    if (!(await speaksOldTransport(fetch, settings.url, statusOf(error)))) return;
    throw new ConnectionFailure(
      'negotiate',
      'The server speaks the event-stream transport of the revision 2024-11-05 at this address, which the platform does not. Use its address for streamable HTTP, which often ends in /mcp.',
    );
  }

  async #connectOnce(prior: ReturnType<ServerMemory['verdictOf']>): Promise<Opened> {
    if (this.#closed) throw new ProcessFailure('The connection was closed.');
    this.#parts.live.add(this);
    const { memory } = this.#parts;
    const { row } = this.#server;
    const transport = createTransport(this.#parts, this.#server, this.redactor, () => {
      this.#wantsLogin = true;
    });
    this.#used.push(transport);
    const client = new Client(clientInfo, {
      capabilities: this.#mayAsk ? elicitation : {},
      versionNegotiation: {
        mode: 'auto',
        probe: { timeoutMs: row.transport === 'stdio' ? probeWithinMs : connectWithinMs },
      },
      // No call waits for people: the request for input is the answer.
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: noValidation,
    });
    if (this.#mayAsk) {
      // Not a handler for this method: that would refuse requests that we say more about.
      client.fallbackRequestHandler = async ({ method, params }) => {
        if (method === 'elicitation/create') return { ...this.#inFlight.answer(params) };
        throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
      };
    }
    try {
      await withTimeout(
        client.connect(transport, { timeout: connectWithinMs, ...(prior ? { prior } : {}) }),
        connectWithinMs,
        () => new ConnectionFailure('negotiate', 'The server did not respond in time.'),
      );
    } catch (error) {
      await transport.close().catch(() => {});
      throw error;
    }
    if (this.#closed) await transport.close();
    const discover = client.getDiscoverResult();
    if (!memory.verdictOf(row)) {
      memory.setVerdict(row, discover ? { kind: 'modern', discover } : { kind: 'legacy' });
    }
    return { client, transport, remembered: prior !== undefined };
  }

  /** The next use opens the connection again. */
  #dropped(opened: Opened): void {
    if (this.#opened !== opened) return;
    this.#opened = null;
    this.#opening = null;
  }

  async #end(opened: Opened | null): Promise<void> {
    if (!opened) return;
    this.#dropped(opened);
    const { client, transport } = opened;
    if (transport instanceof StreamableHTTPClientTransport) {
      await withTimeout(transport.terminateSession(), farewellWithinMs).catch(() => {});
    }
    await client.close().catch(() => {});
  }
}
