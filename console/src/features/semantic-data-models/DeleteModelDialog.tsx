import { useNavigate } from '@tanstack/react-router';
import { path, request, useAction, useGet, useInvalidate } from '../../api/index.ts';
import type { PublicAgent, PublicSemanticDataModel } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { ActionDialog, Link, notify } from '../../ui/index.ts';
import css from './ModelView.module.css';

const AgentLink = ({ id }: { id: string }) => {
  const { data } = useGet<PublicAgent>(path`/api/v2/agents/${id}`, { staleTime: 60_000 });
  return <Link href={to.agent(id, { tab: 'tools' })}>{data?.name ?? id}</Link>;
};

/** Asks before a model is deleted. A refusal names the agents that use it. */
export const DeleteModelDialog = ({
  model,
  etag,
  onClose,
}: {
  model: PublicSemanticDataModel;
  etag: string | null;
  onClose: () => void;
}) => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const action = useAction(async () => {
    await request('DELETE', path`/api/v2/semantic-data-models/${model.id}`, { ifMatch: etag });
    notify(words.deleted);
    await navigate({ to: to.semanticDataModels() });
    await invalidate('/api/v2/semantic-data-models');
  });
  const refusedBy = action.error?.fields.agent_ids;
  const agentIds: string[] = Array.isArray(refusedBy) ? refusedBy.map(String) : [];
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.deleteTitle}
      kind="danger"
      onConfirm={() => void action.run()}
      busy={action.busy}
      error={action.error}
    >
      <p>
        <b>{model.name}</b>
      </p>
      <p>{words.deleteText}</p>
      {agentIds.length > 0 && (
        <>
          <p>{words.deleteUsed(agentIds.length)}</p>
          <ul className={css.problems}>
            {agentIds.map((id) => (
              <li key={id}>
                <AgentLink id={id} />
              </li>
            ))}
          </ul>
        </>
      )}
    </ActionDialog>
  );
};
