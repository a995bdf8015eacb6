import type { Executor } from '../database/index.ts';
import { type Attention, severities } from '../lib/attention.ts';
import { counted } from '../lib/prose.ts';
import { countFiring } from './store.ts';

/** Returns the line of the Overview about alerts that fire and that no one has acknowledged. */
export const alertAttention = async (executor: Executor, isAdmin: boolean): Promise<Attention[]> => {
  const open = (await countFiring(executor, isAdmin)).filter(({ acknowledged }) => !acknowledged);
  if (open.length === 0) return [];
  const count = open.reduce((sum, { n }) => sum + n, 0);
  const severity = severities.find((one) => open.some((row) => row.severity === one))!;
  return [
    {
      kind: 'alerts_firing',
      severity,
      count,
      since: new Date(Math.min(...open.map(({ since }) => since.getTime()))),
      subject: null,
      title: `${counted(count, 'alert')} ${count === 1 ? 'fires' : 'fire'}, and no one has acknowledged ${count === 1 ? 'it' : 'them'}`,
      detail: 'Each is resolved by itself when what it is about is over.',
      filter: { tab: 'firing' },
    },
  ];
};
