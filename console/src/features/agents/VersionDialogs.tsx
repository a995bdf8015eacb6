import { type ReactNode, useState } from 'react';
import { perform, useAction } from '../../api/index.ts';
import type { PublicAgent } from '../../api/types.gen.ts';
import { versions as words } from '../../text/en/versions.ts';
import { ActionDialog, NumberField, notify, Select, Textarea } from '../../ui/index.ts';

interface Of {
  agent: PublicAgent;
  /** The ETag of what is shown: what someone else changed since is not published unseen. */
  etag: string | null;
  onClose: () => void;
}

/** A dialog that asks before `act`, and says `done` after it. */
const Ask = ({
  title,
  done,
  kind = 'primary',
  act,
  onClose,
  children,
}: {
  title: string;
  done: string;
  kind?: 'primary' | 'danger';
  act: () => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
}) => {
  const action = useAction(async () => {
    await act();
    notify(done);
    onClose();
  });
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={title}
      kind={kind}
      onConfirm={() => void action.run()}
      busy={action.busy}
      error={action.error}
    >
      {children}
    </ActionDialog>
  );
};

export const PublishDialog = ({ agent, etag, onClose }: Of) => {
  const [note, setNote] = useState('');
  return (
    <Ask
      title={words.publish}
      done={words.published}
      act={() =>
        perform('publishAgent', { agent_id: agent.id }, { body: note === '' ? {} : { note }, ifMatch: etag })
      }
      onClose={onClose}
    >
      <Textarea label={words.note} hint={words.noteHint} value={note} onChange={setNote} />
    </Ask>
  );
};

export const DiscardDialog = ({ agent, etag, onClose }: Of) => {
  return (
    <Ask
      title={words.discard}
      done={words.discarded}
      kind="danger"
      act={() => perform('discardAgentDraft', { agent_id: agent.id }, { ifMatch: etag })}
      onClose={onClose}
    >
      <p>{words.discardText}</p>
    </Ask>
  );
};

export const RollBackDialog = ({ agent, etag, version, onClose }: Of & { version: number }) => {
  const [reason, setReason] = useState('');
  return (
    <Ask
      title={words.rollBack}
      done={words.rolledBack}
      act={() =>
        perform(
          'rollBackAgent',
          { agent_id: agent.id },
          { body: { version, ...(reason === '' ? {} : { reason }) }, ifMatch: etag },
        )
      }
      onClose={onClose}
    >
      <p>{words.rollBackText(version)}</p>
      <Textarea label={words.reason} value={reason} onChange={setReason} />
    </Ask>
  );
};

export const StartCanaryDialog = ({ agent, etag, onClose }: Of) => {
  const [version, setVersion] = useState(agent.has_changes ? 'draft' : '');
  const [percent, setPercent] = useState<number | null>(10);
  const [errorRate, setErrorRate] = useState<number | null>(null);
  const numbers = Array.from({ length: agent.latest_version }, (_, i) => agent.latest_version - i);
  return (
    <Ask
      title={words.startCanary}
      done={words.started}
      act={() =>
        perform(
          'startCanary',
          { agent_id: agent.id },
          {
            ifMatch: etag,
            body: {
              version: version === 'draft' ? ('draft' as const) : Number(version),
              percent: percent ?? 10,
              ...(errorRate === null ? {} : { rollback_when: { error_rate: errorRate / 100 } }),
            },
          },
        )
      }
      onClose={onClose}
    >
      <Select
        label={words.version}
        value={version}
        onChange={(chosen) => setVersion(chosen ?? '')}
        options={[
          ...(agent.has_changes ? [{ value: 'draft', label: words.draft }] : []),
          ...numbers
            .filter((number) => number !== agent.version)
            .map((number) => ({ value: String(number), label: words.versionOf(number) })),
        ]}
      />
      <NumberField label={words.percent} value={percent} min={1} max={99} onChange={setPercent} />
      <NumberField
        label={words.errorRate}
        hint={words.errorRateHint}
        value={errorRate}
        onChange={setErrorRate}
      />
    </Ask>
  );
};

export const PromoteDialog = ({ agent, etag, onClose }: Of) => (
  <Ask
    title={words.promote}
    done={words.promoted}
    act={() => perform('promoteCanary', { agent_id: agent.id }, { ifMatch: etag })}
    onClose={onClose}
  >
    <p>{words.promoteText}</p>
  </Ask>
);

export const AbortDialog = ({ agent, etag, onClose }: Of) => (
  <Ask
    title={words.abort}
    done={words.aborted}
    act={() => perform('abortCanary', { agent_id: agent.id }, { ifMatch: etag })}
    onClose={onClose}
  >
    <p>{words.abortText}</p>
  </Ask>
);
