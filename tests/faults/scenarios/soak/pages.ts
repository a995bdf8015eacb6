import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { pick } from '../../../../packages/cron/tests/random.ts';
import { textPdf } from '../../../harness/documents.ts';
import { type EventStream, openEventStream } from '../../../harness/event-stream.ts';
import { type ForgingProvider, startForgingProvider } from '../../../harness/forging-provider.ts';
import { form } from '../../../harness/form.ts';
import { adminKey } from '../../../harness/process.ts';
import { salesModel, salesTables } from '../../../harness/sales-model.ts';
import { signIn } from '../../../harness/sign-in.ts';
import { must } from '../fixture.ts';
import { askForWords, expectWords } from '../streams.ts';
import { forever, type Workload } from '../workloads.ts';
import type { Caller } from './caller.ts';

const csv = 'region,amount\nnorth,10.50\nsouth,4\nnorth,1\n';
const invoice = { type: 'object', properties: { invoice_number: { type: 'string' } } };

/** The statuses of a stream that may be opened again. */
const passing = [429, 503];

const reads = [
  '/work-items?limit=50',
  '/work-items?status=COMPLETED&limit=20&offset=100',
  '/agents?limit=50',
  '/conversations-of-no-one',
  '/audits?limit=50',
  '/api-keys',
  '/tool-servers',
  '/data-connections',
  '/observability/integrations',
];
const appReads = ['/overview', '/status', '/me', '/work-items?limit=50', '/schedules?limit=50', '/workspace'];

/** Conversations whose streams are cut, documents, queries, frames, sign-ins, and the pages of the application. */
export class Pages implements Workload {
  readonly #caller: Caller;
  readonly #provider: ForgingProvider;
  #loops: Workload[] = [];
  /** Runs of conversations that another worker took over. */
  takenOver = 0;

  private constructor(caller: Caller, provider: ForgingProvider) {
    this.#caller = caller;
    this.#provider = provider;
  }

  /** Starts the identity provider. The replicas must be started with its `env`. */
  static async open(caller: Caller): Promise<Pages> {
    return new Pages(caller, await startForgingProvider());
  }

  /** The variables of the replicas: the provider sends everyone back to replica 0. */
  env(sqliteFolder: string): Record<string, string> {
    const { PORT, PUBLIC_URL, ...oidc } = this.#provider.env;
    return {
      ...oidc,
      PUBLIC_URL: `http://127.0.0.1:${this.#caller.fixture.replicas[0]!.port}`,
      SQLITE_DIR: sqliteFolder,
    };
  }

  async start(sqliteFolder: string, pauseMs: number): Promise<void> {
    const caller = this.#caller;
    const api = caller.fixture.api();
    mkdirSync(sqliteFolder, { recursive: true });
    const database = new DatabaseSync(join(sqliteFolder, 'sales.db'));
    for (const statement of salesTables('sqlite')) database.exec(statement);
    database.close();
    const configuration = { path: 'sales.db' };
    const connection = await must(
      api.post('/data-connections', { name: 'Sales', engine: 'sqlite', configuration }),
    );
    const model = await must(
      api.post('/semantic-data-models', { data_connection_id: connection.id, semantic_model: salesModel }),
    );
    const talker = await must(api.post('/agents', { name: 'Talker', mode: 'conversational' }));
    const conversations = `/agents/${talker.id}/conversations`;
    this.#loops = [
      forever(1, pauseMs * 4, () => this.#talk(conversations)),
      forever(1, pauseMs * 20, () => this.#document()),
      forever(1, pauseMs * 10, () => this.#query(`/semantic-data-models/${model.id}/query`)),
      forever(1, pauseMs * 20, () => this.#frame(conversations)),
      forever(1, pauseMs * 10, () => this.#signIn()),
      forever(1, pauseMs * 4, () => this.#change()),
      forever(1, pauseMs / 6, () => this.#read()),
      forever(1, pauseMs * 100, () => this.verifyAudits()),
    ];
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }

  async close(): Promise<void> {
    await this.#provider[Symbol.asyncDispose]();
  }

  /** Follows a stream that is cut, on purpose and by kills, until the run is completed; then checks all of its events. */
  async #talk(conversations: string): Promise<void> {
    const caller = this.#caller;
    const made = await caller.insist((api) => api.post(conversations, {}));
    if (!made) return;
    const path = `${conversations}/${made.id}`;
    const open = (more: object): Promise<EventStream | null> => {
      const url = `http://127.0.0.1:${caller.fixture.replicas[caller.replica()]!.port}/api/v2${path}/stream`;
      return openEventStream(url, { key: adminKey, ...more } as Parameters<typeof openEventStream>[1]).catch(
        () => null,
      );
    };
    const events: EventStream['events'] = [];
    let stream = await open({ body: { content: askForWords } });
    // Whether the message was stored is not known.
    if (stream?.status !== 200) return void (await this.#forget(path));
    const end = Date.now() + 180_000;
    while (Date.now() < end) {
      if (stream?.status === 200) {
        const cut = caller.random() < 0.6 ? caller.random() * 3_000 : 60_000;
        await Promise.race([stream.ended.catch(() => {}), sleep(cut)]);
        stream.close();
        events.push(...stream.events);
        if (events.at(-1)?.event === 'run.completed') break;
      } else if (stream && !passing.includes(stream.status))
        caller.problem(`stream of ${path}: ${stream.status} ${stream.text()}`);
      await sleep(caller.random() * 500);
      stream = await open({ lastEventId: events.at(-1)?.id ?? 0 });
    }
    try {
      expectWords(events);
      this.takenOver += events.filter(({ event }) => event === 'run.reset').length;
      caller.count('conversations');
    } catch (error) {
      caller.problem(
        `conversation ${path}: ${String(error).slice(0, 300)}, events ${events.map(({ id }) => id)}`,
      );
    }
    await this.#forget(path);
  }

  async #forget(path: string): Promise<void> {
    await this.#caller.insist((api) => api.delete(path), { also: [404, 409, 412] });
  }

  #upload(
    path: string,
    filename: string,
    content: string | Uint8Array,
    more: { name: string; content: string }[] = [],
  ) {
    const { body, headers } = form([...more, { name: 'file', filename, content }]);
    return this.#caller.ask((api) => api.raw('POST', path, body, { headers }));
  }

  async #document(): Promise<void> {
    const number = `INV-${Math.floor(this.#caller.random() * 1e6)}`;
    const schema = { name: 'schema', content: JSON.stringify(invoice) };
    const document = textPdf(['Acme Ltd.', `Invoice number: ${number}`]);
    const result = await this.#upload('/document-intelligence/extract', 'invoice.pdf', document, [schema]);
    if (!result) return;
    if (result.data?.invoice_number === number) this.#caller.count('documents');
    else this.#caller.problem(`a document: ${JSON.stringify(result).slice(0, 300)}`);
  }

  async #query(path: string): Promise<void> {
    const query = {
      metrics: ['revenue'],
      dimensions: ['orders.status'],
      order: [{ by: 'revenue', direction: 'desc' }],
    };
    const result = await this.#caller.ask((api) => api.post(path, { query }));
    if (!result) return;
    if (result.rows?.length === 3) this.#caller.count('queries');
    else this.#caller.problem(`a query: ${JSON.stringify(result).slice(0, 300)}`);
  }

  async #frame(conversations: string): Promise<void> {
    const caller = this.#caller;
    const made = await caller.insist((api) => api.post(conversations, {}));
    if (!made) return;
    const path = `${conversations}/${made.id}`;
    const file = await this.#upload(`${path}/files`, 'sales.csv', csv);
    const source = { kind: 'file', file_id: file?.id };
    const frame = file && (await caller.ask((api) => api.post(`${path}/data-frames`, { source })));
    if (frame) {
      const sql = 'select region, sum(amount) as total from sales group by region';
      const rows = await caller.ask((api) => api.post(`${path}/data-frames/query`, { sql }));
      if (rows?.rows?.length === 2) caller.count('frames');
      else if (rows) caller.problem(`a frame: ${JSON.stringify(rows).slice(0, 300)}`);
    }
    await this.#forget(path);
  }

  /** Signs in with the provider, reads some pages, and signs out at times. */
  async #signIn(): Promise<void> {
    const caller = this.#caller;
    this.#provider.requests.length = 0;
    const { port } = caller.fixture.replicas[0]!;
    const signedIn = await signIn(
      { origin: `http://127.0.0.1:${port}` },
      `person${Math.floor(caller.random() * 20)}`,
    ).catch(() => null);
    if (!signedIn?.cookie) return;
    const headers = { authorization: null, cookie: signedIn.cookie, 'sec-fetch-site': 'same-origin' };
    const me = await caller.ask((api) => api.get('/me', { headers }), { base: '/app/api' });
    if (me) caller.count('sign-ins');
    if (caller.random() < 0.5)
      await caller.ask((api) => api.post('/sign-out', undefined, { headers }), {
        base: '/app/api',
        also: [401],
      });
  }

  /** An agent with a schedule: made, changed, run, paused and deleted. */
  async #change(): Promise<void> {
    const caller = this.#caller;
    const agent = await caller.insist((api) => api.post('/agents', { name: 'Changed', mode: 'worker' }));
    if (!agent) return;
    const path = `/agents/${agent.id}/schedules`;
    const body = { cron_expression: '0 0 1 1 *', message: 'a year has begun' };
    const schedule = await caller.insist((api) => api.post(path, body));
    if (schedule) {
      const one = `${path}/${schedule.id}`;
      await caller.insist((api) => api.put(one, { ...body, message: 'another year' }));
      await caller.insist((api) => api.post(`${one}/pause`), { base: '/app/api' });
      await caller.insist((api) => api.delete(one), { also: [404] });
    }
    await caller.insist((api) => api.patch(`/agents/${agent.id}`, { description: 'changed' }));
    await caller.insist((api) => api.delete(`/agents/${agent.id}`), { also: [404] });
    caller.count('changes');
  }

  async #read(): Promise<void> {
    const caller = this.#caller;
    const app = caller.random() < 0.4;
    const path = pick(caller.random, app ? appReads : reads);
    const options = { base: app ? '/app/api' : '/api/v2', also: path.endsWith('no-one') ? [404] : [] };
    if (await caller.ask((api) => api.get(path), options)) caller.count('reads');
  }

  async verifyAudits(): Promise<void> {
    const result = await this.#caller.ask((api) => api.get('/audits/verify'));
    if (!result) return;
    if (result.ok) this.#caller.count('verifications');
    else this.#caller.problem(`the audit log: ${JSON.stringify(result)}`);
  }
}
