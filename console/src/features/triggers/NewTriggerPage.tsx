import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiProblem, type Output, perform, useForm } from '../../api/index.ts';
import { FormFields, NoAgents, SubmitForm, useAgents } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { pages } from '../../text/en/pages.ts';
import { triggerForm as words } from '../../text/en/trigger-form.ts';
import { Loaded, notify, Page, Skeleton, useDisabledReason } from '../../ui/index.ts';
import { withColumns } from './form/faults.ts';
import { type TriggerValues, triggerForm } from './form/form.tsx';
import { TryIt } from './form/TryIt.tsx';
import type { newTriggerSearch } from './search.ts';
import { triggerHref } from './shared/address.ts';
import { SecretDialog } from './shared/SecretDialog.tsx';

type Created = Output<'createTrigger'>;

const create = async (values: TriggerValues): Promise<Created> => {
  if (values.owner === null) {
    const details = [{ path: 'owner', message: words.agentNeeded }];
    throw new ApiProblem(422, { code: 'unprocessable_entity', details });
  }
  const body = triggerForm.create.toBody(values);
  return (await perform('createTrigger', { agent_id: values.owner }, { body })).body;
};

const NewTriggerForm = ({ agentId, back }: { agentId: string | undefined; back: string }) => {
  const navigate = useNavigate();
  const [created, setCreated] = useState<Created | null>(null);
  const open = ({ agent_id, id, url }: Created, tab?: 'connect') =>
    navigate({ href: triggerHref(agent_id, id, url !== null && tab ? { tab } : {}) });
  const form = useForm(
    { ...triggerForm.create.first, owner: agentId ?? null },
    async (values) => {
      const trigger = await create(values);
      if (trigger.secret !== undefined) return setCreated(trigger);
      notify(words.created(trigger.name));
      // Its sender needs the address next.
      return open(trigger, 'connect');
    },
    {
      disabledReason: useDisabledReason('createTrigger'),
      fieldOf: triggerForm.create.fieldOf,
      readRefusal: withColumns,
    },
  );
  if (created?.secret !== undefined) {
    return (
      <SecretDialog
        title={words.create}
        trigger={created}
        secret={created.secret}
        onClose={() => void open(created)}
      />
    );
  }
  return (
    <SubmitForm form={form} submit={words.create} discard={back} side={<TryIt values={form.values} />}>
      <FormFields of={triggerForm} form={form} />
    </SubmitForm>
  );
};

/** The form of a new trigger, of the agent in the address (`?agent=`). */
export const NewTriggerPage = () => {
  const { agent } = useUrlState<ReturnType<typeof newTriggerSearch>>().search;
  const got = useAgents({ mode: 'worker' });
  const back =
    agent === undefined ? to('/triggers') : to('/agents/$agentId', { agentId: agent }, { tab: 'triggers' });
  return (
    <Page title={pages.newTrigger} crumbs={[{ label: pages.triggers, href: to('/triggers') }]}>
      <Loaded got={got} operation="listAgents" skeleton={<Skeleton rows={7} height={64} />}>
        {({ data: workers }) =>
          workers.length === 0 ? (
            <NoAgents sentence={words.noAgents} example={words.exampleAgent} />
          ) : (
            <NewTriggerForm
              agentId={agent ?? (workers.length === 1 ? workers[0]!.id : undefined)}
              back={back}
            />
          )
        }
      </Loaded>
    </Page>
  );
};
