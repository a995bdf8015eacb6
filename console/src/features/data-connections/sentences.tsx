import type { ReactNode } from 'react';
import type { ApiProblem } from '../../api/index.ts';
import type { DataConnectionTestResult, PublicDataConnection } from '../../api/types.gen.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { Time } from '../../time/index.ts';
import { Emphasis, Muted, type Outcome, TestSteps, Words } from '../../ui/index.ts';
import { type Engine, placeOf } from './form.ts';

export const kindOf = { ok: 'on-time', unreachable: 'missing', unverified: 'due' } as const satisfies Record<
  PublicDataConnection['status']['state'],
  Outcome
>;

/** Place of the data and outcome of the last attempt to read them. */
export const StateSentence = ({ connection }: { connection: PublicDataConnection }): ReactNode => {
  const { state, checked_at, detail } = connection.status;
  return (
    <>
      {`${words.engines[connection.engine]}, ${placeOf(connection)}. `}
      {state === 'unreachable' ? (
        <Emphasis tone="missing">{words.fails(detail ?? '')}</Emphasis>
      ) : state === 'ok' ? (
        words.responds
      ) : (
        words.unverified
      )}{' '}
      {checked_at && <Words text={words.checked} at={<Time at={checked_at} form="relative" />} />}
    </>
  );
};

type Tried = Pick<DataConnectionTestResult, 'ok' | 'steps'> & Partial<DataConnectionTestResult>;

export const refusedTest = (refusal: ApiProblem | null): Tried | undefined => {
  const steps = refusal?.fields?.steps;
  return Array.isArray(steps) ? { ok: false, steps } : undefined;
};

/** Steps of a test, and the warnings of one that passed. */
export const TestResult = ({ engine, result }: { engine: Engine; result: Tried }) => {
  const { server, warnings, latency_ms } = result;
  return (
    <TestSteps
      words={engine === 'sqlite' ? { ...words, steps: words.fileSteps } : words}
      result={result}
      note={
        <>
          {warnings?.map(({ code, message }) => (
            <p key={code}>
              <Emphasis tone="late">{message}</Emphasis>
            </p>
          ))}
          <Muted small>
            {server && `${words.server(server.product, server.version)} `}
            {latency_ms !== undefined && words.testTook(latency_ms)}
          </Muted>
        </>
      }
    />
  );
};
