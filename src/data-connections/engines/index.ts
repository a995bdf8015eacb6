import type { Egress } from '../../lib/egress.ts';
import type { Engine, OwnDatabase, Session, TableFilter, TableList } from './engine.ts';
import { mysql } from './mysql.ts';
import { postgres } from './postgres.ts';
import type { Progress } from './progress.ts';
import type { ConnectionSettings, EngineName } from './settings.ts';

/** Opens a session. Rejects with ConnectionFailure within the time of `progress`, and leaves nothing open then. */
export type OpenSession = (settings: ConnectionSettings, progress: Progress) => Promise<Session>;

/** The engines, for callers that do not care which one it is. */
export interface Engines {
  open: OpenSession;
  listTables(engine: EngineName, session: Session, filter: TableFilter): Promise<TableList>;
  defaultSchema(settings: ConnectionSettings): string;
  printSelect(
    engine: EngineName,
    table: { schema: string; name: string },
    columns: readonly string[],
    limit: number,
  ): string;
}

export const createEngines = ({
  egress,
  own,
  sqlite,
}: {
  egress: Egress;
  own: OwnDatabase;
  sqlite: Engine<ConnectionSettings & { engine: 'sqlite' }>;
}): Engines => {
  const engines = { postgres, mysql, sqlite } as unknown as Record<EngineName, Engine<ConnectionSettings>>;
  return {
    open: (settings, progress) => engines[settings.engine].open(settings, { egress, own, progress }),
    listTables: (engine, session, filter) => engines[engine].listTables(session, filter),
    defaultSchema: (settings) => engines[settings.engine].defaultSchema(settings),
    printSelect: (engine, ...rest) => engines[engine].printSelect(...rest),
  };
};
