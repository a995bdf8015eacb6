import { type ReactNode, useEffect, useEffectEvent, useState } from 'react';
import { ApiProblem, perform, refreshAfter, useAction, useOperation } from '../../api/index.ts';
import type { PublicAgent, PublicPublication } from '../../api/types.gen.ts';
import { versions as words } from '../../text/en/versions.ts';
import {
  ActionDialog,
  Bar,
  Button,
  Dialog,
  NumberField,
  notify,
  Problem,
  Select,
  Textarea,
  useDisabledReason,
} from '../../ui/index.ts';
import css from './fields.module.css';
import { GateCheck } from './GateCheck.tsx';

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

/** The publication that a refusal of the gate names. */
const blockedBy = (error: unknown): PublicPublication | null =>
  error instanceof ApiProblem && error.status === 412
    ? ((error.fields.publication as PublicPublication | undefined) ?? null)
    : null;

/** Publishes past the gate. */
const Override = ({ agent, etag, onClose }: Of) => {
  const [reason, setReason] = useState('');
  const mayOverride = useDisabledReason('publishAgent', 'admin');
  const action = useAction(async () => {
    const body = { override_reason: reason };
    await perform('publishAgent', { agent_id: agent.id }, { body, ifMatch: etag });
    notify(words.published);
    onClose();
  });
  return (
    <>
      <Textarea
        label={words.overrideReason}
        hint={words.overrideHint}
        value={reason}
        onChange={setReason}
        rows={2}
        disabledReason={mayOverride}
      />
      {action.error && <Problem error={action.error} />}
      <Bar>
        <Button
          kind="danger"
          busy={action.busy}
          disabledReason={mayOverride ?? (reason.trim() === '' ? words.reasonFirst : null)}
          onClick={() => void action.run()}
        >
          {words.publishAnyway}
        </Button>
      </Bar>
    </>
  );
};

/** The check of a draft: how far it is, what it found, and how to publish all the same. */
const CheckDialog = ({ agent, etag, onClose, first }: Of & { first: PublicPublication }) => {
  const params = { agent_id: agent.id, publication_id: first.id };
  const { data } = useOperation('getAgentPublication', params);
  const mayCancel = useDisabledReason('cancelAgentPublication');
  const cancel = useAction(() => perform('cancelAgentPublication', params, { ifMatch: etag }));
  const { state } = data ?? first;
  const ended = useEffectEvent(() => void refreshAfter('publishAgent'));
  useEffect(() => {
    if (state !== 'checking') ended();
  }, [state]);
  return (
    <Dialog open wide onClose={onClose} title={words.publish}>
      <div className={css.dialog}>
        <GateCheck agent={agent} first={first} />
        {cancel.error && <Problem error={cancel.error} />}
        {state === 'checking' && (
          <Bar>
            <Button busy={cancel.busy} disabledReason={mayCancel} onClick={() => void cancel.run()}>
              {words.cancelCheck}
            </Button>
          </Bar>
        )}
        {(state === 'blocked' || state === 'inconclusive') && (
          <Override agent={agent} etag={etag} onClose={onClose} />
        )}
      </div>
    </Dialog>
  );
};

/** Publishes the draft. `checking`: a check of it that runs already. */
export const PublishDialog = ({
  agent,
  etag,
  onClose,
  checking,
}: Of & { checking: PublicPublication | null }) => {
  const [note, setNote] = useState('');
  const [publication, setPublication] = useState(checking);
  const act = useAction(async () => {
    try {
      const { body } = await perform(
        'publishAgent',
        { agent_id: agent.id },
        { body: note === '' ? {} : { note }, ifMatch: etag },
      );
      if (agent.gate) return setPublication(body);
      notify(words.published);
      onClose();
    } catch (error) {
      // The verdict on the same draft is known already.
      const refusal = blockedBy(error);
      if (!refusal) throw error;
      setPublication(refusal);
    }
  });
  if (publication) return <CheckDialog agent={agent} etag={etag} onClose={onClose} first={publication} />;
  return (
    <ActionDialog open onClose={onClose} title={words.publish} act={act}>
      {agent.gate && <p>{words.publishGated(words.theDataset)}</p>}
      <Textarea label={words.note} hint={words.noteHint} value={note} onChange={setNote} />
    </ActionDialog>
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
  const [override, setOverride] = useState('');
  const mayOverride = useDisabledReason('startCanary', 'admin');
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
              ...(override.trim() !== '' && { override_reason: override.trim() }),
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
      {agent.gate && (
        <Textarea
          label={words.overrideReason}
          hint={words.canaryOverrideHint}
          value={override}
          onChange={setOverride}
          rows={2}
          disabledReason={mayOverride}
        />
      )}
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
