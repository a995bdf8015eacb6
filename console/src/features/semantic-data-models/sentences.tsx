import type { ReactNode } from 'react';
import { useOperation, usePermission } from '../../api/index.ts';
import type { PublicSemanticDataModel } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { Time } from '../../time/index.ts';
import { Emphasis, Link, type Outcome, Words } from '../../ui/index.ts';

type Validation = PublicSemanticDataModel['validation'];
type State = keyof typeof words.states;

export const stateKinds = { valid: 'on-time', faulty: 'missing', unchecked: 'due' } as const satisfies Record<
  State,
  Outcome
>;

export const stateOf = ({ valid, checked_at }: Validation): State =>
  !valid ? 'faulty' : checked_at === null ? 'unchecked' : 'valid';

export const StateSentence = ({ model }: { model: PublicSemanticDataModel }): ReactNode => {
  const { data_connection_id: id, validation } = model;
  const { data } = useOperation(
    'getDataConnection',
    { data_connection_id: id },
    {
      enabled: usePermission('getDataConnection').allowed,
      staleTime: 60_000,
    },
  );
  const state = stateOf(validation);
  return (
    <>
      <Words
        text={words.reads}
        connection={
          <Link href={to('/data-connections/$dataConnectionId', { dataConnectionId: id })}>
            {data?.name ?? words.connection}
          </Link>
        }
      />{' '}
      {state === 'faulty' ? (
        <Emphasis tone="missing">{words.errors(validation.errors.length)}</Emphasis>
      ) : state === 'valid' ? (
        words.isValid
      ) : (
        words.unchecked
      )}{' '}
      {validation.checked_at && (
        <Words text={words.validated} at={<Time at={validation.checked_at} form="relative" />} />
      )}
    </>
  );
};
