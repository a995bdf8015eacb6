import type { EventConnectionTestResult } from '../../api/types.gen.ts';
import { eventConnections as words } from '../../text/en/event-connections.ts';
import { Muted, TestSteps } from '../../ui/index.ts';

type Tried = Pick<EventConnectionTestResult, 'ok' | 'steps'> & Partial<EventConnectionTestResult>;

/** The steps of a test of a broker. */
export const ConnectionTestResult = ({ result }: { result: Tried }) => (
  <TestSteps
    words={words}
    result={result}
    note={result.latency_ms !== undefined && <Muted small>{words.testTook(result.latency_ms)}</Muted>}
  />
);
