import type { PlatformProcess } from '../../tests/harness/process.ts';
import { newClient, percentile } from '../console/client.ts';

/** What people and programs read, as paths of a random Work Item and agent. */
const pathsOf = (item: string, agent: string): Record<string, string> => ({
  Overview: '/app/api/overview?hours=24',
  'list of an agent': `/app/api/work-items?limit=50&agent_id=${agent}`,
  'list of a status': '/app/api/work-items?limit=50&status=COMPLETED',
  'a Work Item with its history': `/app/api/work-items/${item}`,
  'audit log': '/app/api/audits?limit=50',
  'list of an agent, with total_count': `/api/v2/work-items?limit=50&agent_id=${agent}`,
});

/**
 * Reads at a steady rate, the kinds in turn, until `stop` is called. A read's time counts from when it was to be sent.
 * `stop` resolves to one row for each kind.
 */
export const startReads = async (
  { url, key }: PlatformProcess,
  { items, agents, perSecond }: { items: string[]; agents: string[]; perSecond: number },
) => {
  const browser = await newClient(url, key);
  const took = new Map<string, number[]>();
  let failed = 0;
  const underWay = new Set<Promise<void>>();
  const begun = performance.now();
  let sent = 0;
  const one = async (n: number, due: number): Promise<void> => {
    const kinds = Object.entries(pathsOf(items[(n * 7_919) % items.length]!, agents[n % agents.length]!));
    const [what, path] = kinds[n % kinds.length]!;
    const ok = await browser.get(path).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (!ok) failed++;
    const times = took.get(what) ?? [];
    took.set(what, times);
    times.push(performance.now() - due);
  };
  const timer = setInterval(() => {
    for (; sent < ((performance.now() - begun) / 1_000) * perSecond; sent++) {
      const reading = one(sent, begun + (sent / perSecond) * 1_000);
      underWay.add(reading);
      reading.finally(() => underWay.delete(reading));
    }
  }, 5);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(underWay);
      const rows = [...took].map(([read, times]) => ({
        read,
        count: times.length,
        'p50 ms': percentile(times, 0.5).toFixed(1),
        'p99 ms': percentile(times, 0.99).toFixed(1),
        'max ms': Math.max(...times).toFixed(0),
      }));
      return { rows, failed };
    },
  };
};
