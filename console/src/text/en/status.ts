import { catalog } from '../catalog.ts';
import { duration } from '../format.ts';

export const status = catalog({
  lead: 'The replicas of the platform, its database, and what it keeps.',
  replicas: 'Replicas',
  replica: 'Replica',
  state: 'State',
  states: { alive: 'Alive', silent: 'Silent', stopped: 'Stopped' },
  roles: 'Roles',
  version: 'Version',
  seen: 'Last seen',
  clock: 'Clock',
  ahead: (milliseconds: number) =>
    milliseconds === 0
      ? 'exact'
      : `${duration(Math.abs(milliseconds))} ${milliseconds > 0 ? 'ahead' : 'behind'}`,
  unknown: 'not known yet',
  database: 'Database',
  databases: { embedded: 'embedded in the replica', postgres: 'a server' },
  postgres: (version: string) => `PostgreSQL ${version}`,
  telemetryLog: 'Telemetry log',
  size: 'Size',
  kind: 'Kind',
  kinds: { files: 'a file of each replica', shared: 'shared by all replicas' },
  kept: 'Undelivered spans are kept',
  keptFor: (hours: number, megabytes: string) => `${duration(hours * 3_600_000)}, at most ${megabytes} MB`,
  metrics: 'Metrics',
  noRole: (role: string) => `No replica is alive that does this: ${role}.`,
});
