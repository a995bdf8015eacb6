import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, client } from '../../tests/harness/http.ts';
import type { Postgres } from '../../tests/harness/postgres.ts';
import { residentMb } from '../../tests/harness/proc.ts';
import { type PlatformProcess, spawnPlatform } from '../../tests/harness/process.ts';
import { percentile } from './items.ts';

const messages = 100;
const conversations = 50;
const streams = 500;
/** A key may have 100 open streams. */
const streamsOfKey = 90;
const memoryForMs = 20_000;

/** A message that scripts the mock model: `words` words, with a pause before each. */
const scripted = (words: number, delta_ms: number): string =>
  `Hello\n\nPayload (JSON):\n${JSON.stringify({ mock: { steps: [{ text: 'word '.repeat(words), delta_ms }] } })}`;

const opened = async (response: Response): Promise<Response> => {
  if (response.status === 200) return response;
  throw new Error(`${response.status} ${await response.text()}`);
};

const postMessage = (url: string, key: string, content: string, signal?: AbortSignal): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content }),
    signal: signal ?? null,
  }).then(opened);

/** Milliseconds from a request until its first event has arrived, on an open connection. */
const firstEvent = async (url: string, key: string): Promise<number> => {
  const began = performance.now();
  const response = await postMessage(url, key, scripted(1, 0));
  let text = '';
  let took: number | null = null;
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (took === null && /^event:/m.test(text)) took = performance.now() - began;
  }
  if (took === null) throw new Error('a stream had no event');
  return took;
};

/** The memory of the platform in MB: the most of `memoryForMs` with all streams open. */
const withStreams = async (
  platform: PlatformProcess,
  api: Client,
  newConversation: () => Promise<string>,
): Promise<{ open: number; events: number; peakMb: number }> => {
  const keys: string[] = [];
  for (let n = 0; n < streams; n += streamsOfKey) {
    keys.push((await api.post('/api-keys', { name: `bench ${n}`, role: 'builder' })).body.value);
  }
  const end = new AbortController();
  let open = 0;
  let events = 0;
  const follow = (response: Response): void => {
    open++;
    const read = async (): Promise<void> => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        events += chunk.split('\nevent:').length - 1;
      }
    };
    read()
      .catch(() => {})
      .finally(() => open--);
  };
  const keyOf = (n: number): string => keys[Math.floor(n / streamsOfKey)]!;
  const urls: string[] = [];
  for (let n = 0; n < conversations; n++) {
    const url = `${await newConversation()}/stream`;
    urls.push(url);
    follow(await postMessage(url, keyOf(n), scripted(5_000, 50), end.signal));
  }
  for (let n = conversations; n < streams; n++) {
    const headers = { authorization: `Bearer ${keyOf(n)}` };
    follow(await fetch(urls[n % urls.length]!, { headers, signal: end.signal }).then(opened));
  }
  let peakMb = 0;
  const until = performance.now() + memoryForMs;
  while (performance.now() < until) {
    peakMb = Math.max(peakMb, residentMb(platform.pid));
    await sleep(100);
  }
  const result = { open, events, peakMb };
  end.abort();
  return result;
};

/** How soon a stream begins, and the memory of a platform process with many streams and running conversations. */
export const measureConversations = async (postgres: Postgres): Promise<void> => {
  await using platform = await spawnPlatform({
    databaseUrl: await postgres.createDatabase(),
    env: { ROLES: 'api,worker,delivery', LOG_LEVEL: 'warn' },
  });
  const api = client(`${platform.url}/api/v2`, platform.key);
  const agent = await api.post('/agents', { name: 'Bench', mode: 'conversational', instructions: '' });
  const path = `/agents/${agent.body.id}/conversations`;
  const newConversation = async (): Promise<string> =>
    `${platform.url}/api/v2${path}/${(await api.post(path, {})).body.id}`;
  const url = `${await newConversation()}/stream`;
  const took: number[] = [];
  for (let n = 0; n < messages; n++) took.push(await firstEvent(url, platform.key));
  const before = residentMb(platform.pid);
  const { open, events, peakMb } = await withStreams(platform, api, newConversation);
  console.log('The first event of a stream after the request (goal: 50 ms)');
  console.table([
    {
      messages,
      'median ms': percentile(took, 0.5).toFixed(1),
      'p99 ms': percentile(took, 0.99).toFixed(1),
    },
  ]);
  console.log(
    `Memory with ${open} open streams and ${conversations} running conversations (goal: less than 400 MB)`,
  );
  console.table([
    {
      'open streams': open,
      'before MB': Math.round(before),
      'peak MB': Math.round(peakMb),
      'events received': events,
    },
  ]);
};
