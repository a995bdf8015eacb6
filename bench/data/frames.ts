import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { form } from '../../tests/harness/form.ts';
import { residentMb } from '../../tests/harness/proc.ts';
import { body, type Figure, medianMs, ms, type Rig, waitFigure, waitsDuring } from './rig.ts';

const rows = Number(process.env.DATA_ROWS ?? 1_000_000);

const csvOf = (): Buffer => {
  const lines = ['id,region,amount,day,note'];
  for (let n = 0; n < rows; n++) {
    const day = `2026-${String(1 + (n % 12)).padStart(2, '0')}-${String(1 + (n % 28)).padStart(2, '0')}`;
    lines.push(`${n},region ${n % 50},${(n * 37) % 9000}.${10 + (n % 90)},${day},order ${n} of the night`);
  }
  return Buffer.from(lines.join('\n'));
};

export const aggregate =
  'select region, sum(amount) as total, count(*) as n from big group by region order by total desc';

/** What a person takes to look at a page, at the least. */
const readingMs = 1_000;

/** The greatest resident memory of the platform while `fn` runs, in MB, and what `fn` resolves to. */
const peakDuring = async <T>(pid: number, fn: () => Promise<T>): Promise<{ peak: number; result: T }> => {
  let [peak, done] = [residentMb(pid), false];
  const watch = (async () => {
    while (!done) {
      peak = Math.max(peak, residentMb(pid));
      await sleep(10);
    }
  })();
  const result = await fn().finally(() => {
    done = true;
  });
  await watch;
  return { peak, result };
};

/** Makes the data frame `big` of many rows from an uploaded file. */
export const makeBigFrame = async (rig: Rig) => {
  const { api } = rig;
  const agent = await body(api.post('/agents', { name: 'Analyst', mode: 'conversational' }));
  const conversation = await body(api.post(`/agents/${agent.id}/conversations`, {}));
  const path = `/agents/${agent.id}/conversations/${conversation.id}`;
  const csv = csvOf();
  const sent = form([{ name: 'file', filename: 'big.csv', content: csv }]);
  const limits = { signal: AbortSignal.timeout(300_000) };
  const begunUpload = performance.now();
  const file = await body(api.raw('POST', `${path}/files`, sent.body, { headers: sent.headers, ...limits }));
  const uploadMs = performance.now() - begunUpload;

  const begunMake = performance.now();
  const waits = await waitsDuring(rig, () =>
    body(
      api.post(`${path}/data-frames`, { name: 'big', source: { kind: 'file', file_id: file.id } }, limits),
    ),
  );
  return { path, csv, uploadMs, makeMs: performance.now() - begunMake, waits };
};

/** A data frame of many rows: made, paged, aggregated and exported. DuckDB in this process is its measure. */
export const measureFrames = async (rig: Rig): Promise<Figure[]> => {
  const { api, platform } = rig;
  const { path, csv, uploadMs, makeMs, waits: waitsMake } = await makeBigFrame(rig);

  const page = () => body(api.get(`${path}/data-frames/big/rows?limit=100`));
  const pageMs = await medianMs(10, page, readingMs);
  const nextPageMs = await medianMs(10, page);
  const aggregateMs = await medianMs(5, () =>
    body(api.post(`${path}/data-frames/query`, { sql: aggregate })),
  );

  const exportOnce = async () => {
    const begun = performance.now();
    const response = await fetch(`${platform.url}/api/v2${path}/data-frames/big/content?format=csv`, {
      headers: { authorization: `Bearer ${platform.key}` },
    });
    let bytes = 0;
    for await (const chunk of response.body!) bytes += chunk.length;
    return { bytes, ms: performance.now() - begun };
  };
  const idleMb = residentMb(platform.pid);
  let exported = { bytes: 0, ms: 0 };
  const { peak, result: waitsExport } = await peakDuring(platform.pid, () =>
    waitsDuring(rig, async () => {
      exported = await exportOnce();
    }),
  );

  const bare = await measureBare(csv);
  const perSecond = (bytes: number, took: number) =>
    `${(bytes / 1_048_576 / (took / 1_000)).toFixed(0)} MB/s`;
  return [
    {
      what: `upload ${(csv.length / 1_048_576).toFixed(0)} MB of CSV`,
      goal: '',
      here: ms(uploadMs),
      bare: '',
    },
    {
      what: `make a data frame of its ${rows} rows`,
      goal: '',
      here: ms(makeMs),
      bare: `DuckDB ${ms(bare.makeMs)}`,
    },
    {
      what: 'its first page',
      goal: '100 ms',
      here: `${ms(pageMs)}; without a pause between pages ${ms(nextPageMs)}`,
      bare: `DuckDB ${ms(bare.pageMs)}`,
    },
    { what: 'an aggregate', goal: '1 s', here: ms(aggregateMs), bare: `DuckDB ${ms(bare.aggregateMs)}` },
    {
      what: 'export as CSV',
      goal: '50 MB/s',
      here: perSecond(exported.bytes, exported.ms),
      bare: `DuckDB ${perSecond(exported.bytes, bare.exportMs)}`,
    },
    {
      what: 'memory of the platform while it exports',
      goal: 'flat',
      here: `${idleMb.toFixed(0)} → ${peak.toFixed(0)} MB`,
      bare: '',
    },
    waitFigure('make a data frame', waitsMake),
    waitFigure('export', waitsExport),
  ];
};

/** DuckDB without a platform: the same statements on the same file, its results read to their end. */
export const measureBare = async (csv: Buffer) => {
  const folder = await mkdtemp(join(tmpdir(), 'ap-bench-'));
  try {
    await writeFile(join(folder, 'big.csv'), csv);
    const instance = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '512MB' });
    const connection = await instance.connect();
    const all = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
    const begunMake = performance.now();
    await all(
      `copy (select * from read_csv('${folder}/big.csv', sample_size = -1)) to '${folder}/big.parquet' (format parquet)`,
    );
    const makeMs = performance.now() - begunMake;
    await all(`create view big as from '${folder}/big.parquet'`);
    const pageMs = await medianMs(10, () => all('select * from big limit 100'));
    const aggregateMs = await medianMs(5, () => all(aggregate));
    const exportMs = await medianMs(1, () => all(`copy big to '${folder}/out.csv' (format csv, header)`));
    connection.closeSync();
    return { makeMs, pageMs, aggregateMs, exportMs };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
