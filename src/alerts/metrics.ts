import type { Database } from '../database/index.ts';
import { alertKinds } from '../lib/announcer.ts';
import { gauge, type Metric } from '../lib/metrics.ts';
import { countFiring, findPass } from './store.ts';

/** Figures that all replicas share. While the database is away they are unknown, and the others are needed all the more. */
export const alertMetrics = (db: Database): Metric[] => [
  gauge('agent_platform_alerts_firing', 'Alerts that fire', ['kind'], async (g) => {
    const counts = await db.run((executor) => countFiring(executor, true)).catch(() => null);
    for (const kind of alertKinds) {
      const own = counts?.filter((row) => row.kind === kind) ?? null;
      g.set({ kind }, own === null ? Number.NaN : own.reduce((sum, { n }) => sum + n, 0));
    }
  }),
  gauge(
    'agent_platform_alert_pass_age_seconds',
    'Time since a replica last looked what alerts fire',
    [],
    async (g) => {
      const last = await db.run(findPass).catch(() => null);
      g.set(last?.at ? Math.max(0, last.now.getTime() - last.at.getTime()) / 1000 : Number.NaN);
    },
  ),
];
