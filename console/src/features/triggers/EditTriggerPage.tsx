import { useNavigate, useParams } from '@tanstack/react-router';
import { useEditForm, useOperation } from '../../api/index.ts';
import type { PublicTrigger } from '../../api/types.gen.ts';
import { EditForm, FormFields } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { triggerForm as words } from '../../text/en/trigger-form.ts';
import { triggers } from '../../text/en/triggers.ts';
import { Loaded, notify, Page, Skeleton, useDisabledReason } from '../../ui/index.ts';
import { withColumns } from './form/faults.ts';
import { triggerForm } from './form/form.tsx';
import { TryIt } from './form/TryIt.tsx';
import { triggerHref } from './shared/address.ts';
import { placeOf } from './shared/place.ts';

/** What the form does not show, because it never changes. */
const leadOf = (trigger: PublicTrigger): string =>
  `${words.editLead(triggers.kinds[trigger.kind], placeOf(trigger) ?? '')} ${words.fixed[trigger.kind]}`;

const TriggerEditor = ({ trigger, etag }: { trigger: PublicTrigger; etag: string | null }) => {
  const { id, agent_id } = trigger;
  const navigate = useNavigate();
  const edit = useEditForm({
    read: 'getTrigger',
    change: 'replaceTrigger',
    params: { agent_id, trigger_id: id },
    loaded: { body: trigger, etag },
    ...triggerForm.edit,
    disabledReason: useDisabledReason('replaceTrigger'),
    readRefusal: withColumns,
  });
  const leave = async () => {
    notify(words.saved(edit.form.values.name));
    await navigate({ href: triggerHref(agent_id, id) });
  };
  return (
    <EditForm
      edit={edit}
      {...triggerForm.compare}
      kind="primary"
      discard={triggerHref(agent_id, id)}
      onSaved={() => void leave()}
      side={<TryIt values={edit.form.values} trigger={trigger} />}
    >
      <FormFields of={triggerForm} form={edit.form} exists />
    </EditForm>
  );
};

export const EditTriggerPage = () => {
  const { agentId, triggerId } = useParams({ from: '/shell/agents/$agentId/triggers/$triggerId/edit' });
  const got = useOperation('getTrigger', { agent_id: agentId, trigger_id: triggerId });
  const list = { label: pages.triggers, href: to('/triggers') };
  return (
    <Page
      title={pages.editTrigger}
      titlePrefix={got.data?.name}
      lead={got.data ? leadOf(got.data) : ''}
      crumbs={[list, ...(got.data ? [{ label: got.data.name, href: triggerHref(agentId, triggerId) }] : [])]}
    >
      <Loaded got={got} operation="getTrigger" skeleton={<Skeleton rows={7} height={64} />} list={list}>
        {(trigger) => <TriggerEditor trigger={trigger} etag={got.etag} />}
      </Loaded>
    </Page>
  );
};
