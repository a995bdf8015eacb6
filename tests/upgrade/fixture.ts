import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openEmbedded, sql } from '../../src/database/index.ts';
import { ShiftedClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { type Platform, startPlatform } from '../../src/platform.ts';
import { setDatabaseClock } from '../harness/database-clock.ts';
import { createDatabase, dropDatabase, execute } from '../harness/postgres.ts';
import { adminKey, encryptionKey } from '../harness/process.ts';
import { type DatabaseKind, type Fixture, readDump, readFixture, restore, unpack } from './archive.ts';
import { type Clients, clientsOf } from './clients.ts';
import { placeholders } from './fill.ts';

/** The data of an earlier release, which this release opens in this process, at a time after its end. */
export class Upgrade implements Fixture {
  readonly kind: DatabaseKind;
  readonly facts: Fixture['facts'];
  readonly responses: Fixture['responses'];
  readonly #dataDir: string;
  readonly #databaseUrl: string | null;
  readonly #env: Record<string, string>;
  readonly #clock = new ShiftedClock();
  #platform: Platform | null = null;

  private constructor(
    kind: DatabaseKind,
    fixture: Fixture,
    parts: { dataDir: string; databaseUrl: string | null; env: Record<string, string> },
  ) {
    this.kind = kind;
    this.facts = fixture.facts;
    this.responses = fixture.responses;
    this.#dataDir = parts.dataDir;
    this.#databaseUrl = parts.databaseUrl;
    this.#env = parts.env;
  }

  /**
   * Puts the data in place. `backendPort` is where its integrations send, and `modelUrl` the address of its model: the
   * one thing that is changed in it, because the model of the fixture is gone.
   */
  static async open(
    release: string,
    kind: DatabaseKind,
    { backendPort, modelUrl }: { backendPort: number; modelUrl: string },
  ): Promise<Upgrade> {
    const dataDir = await mkdtemp(join(tmpdir(), 'ap-upgrade-'));
    unpack(release, kind, dataDir);
    const databaseUrl = kind === 'postgres' ? await createDatabase(inject('postgresUrl')) : null;
    const model = `update llm_configurations set base_url = '${modelUrl}' where base_url is not null`;
    if (databaseUrl) {
      await restore(databaseUrl, readDump(release));
      await execute(databaseUrl, model);
    } else {
      const db = await openEmbedded(dataDir, silentLogger);
      await db.tx((tx) => sql.raw(model).execute(tx));
      await db.close();
    }
    const { facts, responses } = readFixture(release, kind);
    const moved = (body: unknown) =>
      JSON.parse(
        JSON.stringify(body)
          .replaceAll(`127.0.0.1:${facts.backendPort}/`, `127.0.0.1:${backendPort}/`)
          .replaceAll(facts.modelUrl, modelUrl),
      );
    for (const [path, body] of Object.entries(responses.bodies))
      if (!path.includes('/audits')) responses.bodies[path] = moved(body);
    return new Upgrade(
      kind,
      { facts, responses },
      {
        dataDir,
        databaseUrl,
        env: placeholders(backendPort),
      },
    );
  }

  /** Starts this release, or stops it and starts it again, when it is `at` by both clocks. */
  async start(at: number, roles?: string): Promise<Clients> {
    await this.#platform?.stop();
    this.#platform = null;
    const offset = at - Date.now();
    this.#clock.offset = offset;
    if (this.#databaseUrl) {
      const name = new URL(this.#databaseUrl).pathname.slice(1);
      await execute(this.#databaseUrl, `alter database "${name}" set platform.clock_offset_ms = '${offset}'`);
    } else await setDatabaseClock(join(this.#dataDir, 'database'), offset);
    const config = readConfig({
      PORT: '0',
      DATA_DIR: this.#dataDir,
      BOOTSTRAP_ADMIN_API_KEY: adminKey,
      ...(this.#databaseUrl ? { DATABASE_URL: this.#databaseUrl, ENCRYPTION_KEY: encryptionKey } : {}),
      ...(roles ? { ROLES: roles } : {}),
      ...this.#env,
    });
    this.#platform = await startPlatform(config, { log: silentLogger, clock: this.#clock });
    return clientsOf(this.origin);
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#platform!.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#platform?.stop();
    if (this.#databaseUrl) await dropDatabase(this.#databaseUrl);
    await rm(this.#dataDir, { recursive: true, force: true });
  }
}
