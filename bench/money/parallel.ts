import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate, openPostgres } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { charge, insertBudget, reserve, startEngine } from '../../tests/harness/budgets.ts';
import { startPostgres } from '../../tests/harness/postgres.ts';
import { newServer, onFreePort } from '../../tests/harness/server.ts';
import { ms } from '../data/rig.ts';
import { percentile } from '../runtime/items.ts';

const calls = 64;
/** The budget pays for this many calls. */
const paid = 10;
/** 10 mUSD: what a call costs, and its bound. */
const price = 10_000_000;
const replyMs = 200;

/** Four replicas send 64 calls at once. Resolves to how many were made. */
const callsHere = async (): Promise<number> => {
  await using postgres = await startPostgres({ durable: true });
  const url = await postgres.createDatabase();
  const replicas = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url, silentLogger)));
  await migrate(replicas[0]!, silentLogger);
  await insertBudget(replicas[0]!, { limit: paid * price });
  const engines = await Promise.all(replicas.map((db) => startEngine(db)));
  const made = await Promise.all(
    Array.from({ length: calls }, async (_, n): Promise<number> => {
      const [db, engine] = [replicas[n % 4]!, engines[n % 4]!];
      const reservation = await reserve(engine, price).catch(() => null);
      if (!reservation) return 0;
      await sleep(replyMs);
      await charge(db, reservation, price);
      return 1;
    }),
  );
  for (const engine of engines) await engine.stop();
  for (const db of replicas) await db.close();
  return made.reduce((sum, one) => sum + one, 0);
};

const startModel = async () => {
  const reply = JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1_000, completion_tokens: 0, total_tokens: 1_000 },
  });
  const server = createServer((request, response) => {
    request.resume().on('end', async () => {
      await sleep(replyMs);
      response.setHeader('content-type', 'application/json').end(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop: () => server.close().closeAllConnections(),
  };
};

/**
 * LiteLLM's proxy without a database, with the budget of a provider, in one process. Resolves to how many of 64 calls at
 * once it made, and what it adds to calls at 20 a second, in ms. Tried with release 1.108.
 */
const callsOfPeer = async (binary: string): Promise<{ made: number; added: number[] }> => {
  const model = await startModel();
  const key = `sk-${randomBytes(24).toString('hex')}`;
  const peer = await newServer('litellm');
  let url = '';
  const call = (): Promise<number> =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }),
    }).then(async (response) => {
      await response.text();
      return response.status;
    });
  const start = async (limitUsd: number): Promise<void> => {
    const cost = { input_cost_per_token: price / 1_000 / 1e9, output_cost_per_token: 0 };
    const params = { model: 'openai/m', api_key: 'none', api_base: model.url, ...cost };
    const budget = { openai: { budget_limit: limitUsd, time_period: '30d' } };
    const config = join(peer.base, 'config.yaml');
    // JSON is YAML.
    await writeFile(
      config,
      JSON.stringify({
        model_list: [{ model_name: 'm', litellm_params: params }],
        router_settings: { provider_budget_config: budget },
      }),
    );
    await onFreePort(async (port) => {
      url = `http://127.0.0.1:${port}`;
      await peer.start({
        command: binary,
        args: ['--config', config, '--host', '127.0.0.1', '--port', `${port}`],
        options: { env: { ...process.env, LITELLM_MASTER_KEY: key } },
        isReady: () => fetch(`${url}/health/liveliness`).then(({ ok }) => ok),
        withinMs: 120_000,
      });
    });
  };
  try {
    await start(1_000_000);
    const added: number[] = [];
    for (let n = 0; n < 220; n++) {
      const begun = performance.now();
      const sent = call().then(() => n >= 20 && added.push(performance.now() - begun - replyMs));
      await sleep(50);
      if (n === 219) await sent;
    }
    await peer.kill('SIGTERM');
    await start((paid * price) / 1e9);
    const statuses = await Promise.all(Array.from({ length: calls }, call));
    return { made: statuses.filter((status) => status === 200).length, added };
  } finally {
    await peer.stop('SIGKILL');
    model.stop();
  }
};

/** 64 calls at once under a budget that pays for 10, here and with LiteLLM (`LITELLM_BIN`, its program). */
export const measureParallelCalls = async (): Promise<void> => {
  const binary = process.env.LITELLM_BIN;
  const peer = binary ? await callsOfPeer(binary) : null;
  const added = peer
    ? `; it adds ${ms(percentile(peer.added, 0.5))}, p99 ${ms(percentile(peer.added, 0.99))} to a call`
    : '';
  console.log(
    `${calls} calls at once under a budget that pays for ${paid}: ${await callsHere()} were made here by 4 replicas, ${peer?.made ?? 'not measured (LITELLM_BIN)'} by LiteLLM in one process${added}.`,
  );
};
