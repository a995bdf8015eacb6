import { type ReactNode, useRef } from 'react';
import { ApiProblem, type Body, useBaseUrl, useMe, useOperation } from '../../api/index.ts';
import {
  AgentSelect,
  jsonText,
  NoAgents,
  readObject,
  SubmitForm,
  useAgents,
  useCreateForm,
  workItemName,
} from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { common } from '../../text/en/common.ts';
import { newWorkItem as words } from '../../text/en/new-work-item.ts';
import { pages } from '../../text/en/pages.ts';
import { workItems } from '../../text/en/work-items.ts';
import { timeOfField } from '../../time/index.ts';
import {
  Button,
  CopyButton,
  curlOf,
  Loaded,
  Page,
  Skeleton,
  Textarea,
  TextField,
  useDisabledReason,
  Words,
} from '../../ui/index.ts';
import type { newWorkItemSearch } from './search.ts';
import type { WorkItemDetail } from './types.ts';

interface Values {
  agent_id: string | null;
  work_item_name: string;
  message: string;
  /** JSON as it is typed. */
  payload: string;
  /** As the field has it, on the clock of the browser. */
  start_at: string;
}

const toBody = ({ agent_id, work_item_name, message, payload, start_at }: Values, draft: boolean) => ({
  agent_id,
  ...(work_item_name.trim() === '' ? {} : { work_item_name: work_item_name.trim() }),
  message,
  ...(payload.trim() === '' ? {} : { payload: readObject(payload) }),
  ...(start_at === '' ? {} : { start_at: timeOfField(start_at) }),
  ...(draft ? { draft } : {}),
});

/** Refuses faults that the form itself can see. */
const check = ({ agent_id, payload }: Values): void => {
  const details = [
    ...(agent_id === null ? [{ path: 'agent_id', message: words.chooseAgent }] : []),
    ...(payload.trim() !== '' && readObject(payload) === null
      ? [{ path: 'payload', message: words.notObject }]
      : []),
  ];
  if (details.length > 0) throw new ApiProblem(422, { details });
};

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

const NewForm = ({ first }: { first: Values }) => {
  const draft = useRef(false);
  const most = (useMe().limits?.max_work_item_payload_size_in_kb ?? 100) * 1024;
  const form = useCreateForm({
    operation: 'createWorkItem',
    params: {},
    first,
    toBody: (values) => {
      check(values);
      return { ...toBody(values, draft.current), agent_id: values.agent_id! };
    },
    disabledReason: useDisabledReason('createWorkItem'),
    created: words.created,
    opens: ({ id }) => to('/work-items/$workItemId', { workItemId: id }),
  });
  const size = bytesOf(form.values.payload.trim());
  const payload = form.field('payload');
  // A command without an agent is refused as the form is.
  const body = toBody(form.values, false) as Body<'createWorkItem'>;
  const curl = curlOf(useBaseUrl(), 'createWorkItem', {}, { body });
  return (
    <SubmitForm
      form={form}
      submit={words.create}
      onSubmit={() => {
        draft.current = false;
        void form.submit();
      }}
      discard={to('/work-items')}
      actions={
        <>
          <Button
            busy={form.busy}
            disabledReason={form.disabledReason}
            title={words.createDraftHint}
            onClick={() => {
              draft.current = true;
              void form.submit();
            }}
          >
            {words.createDraft}
          </Button>
          <CopyButton value={curl} label={workItems.copyCurl} kind="quiet" />
        </>
      }
    >
      <AgentSelect
        {...form.field('agent_id')}
        mode="worker"
        label={words.agent}
        none={words.noAgentMatches}
      />
      <TextField {...form.field('work_item_name')} label={words.name} hint={words.nameHint} />
      <Textarea {...form.field('message')} label={words.message} hint={words.messageHint} rows={5} />
      <Textarea
        {...payload}
        error={payload.error ?? (size > most ? words.payloadTooLarge(size, most) : undefined)}
        label={words.payload}
        hint={words.payloadHint(size, most)}
        rows={6}
        mono
      />
      <TextField
        {...form.field('start_at')}
        type="datetime-local"
        label={words.start}
        hint={words.startHint}
      />
    </SubmitForm>
  );
};

const empty: Values = { agent_id: null, work_item_name: '', message: '', payload: '', start_at: '' };

const copyOf = ({ agent, work_item_name, message, payload }: WorkItemDetail): Values => ({
  agent_id: agent.exists ? agent.id : null,
  work_item_name: work_item_name ?? '',
  message,
  payload: jsonText(payload),
  start_at: '',
});

/** A new Work Item, or with `?copy=` the same as another one. */
export const NewWorkItemPage = () => {
  const { search } = useUrlState<ReturnType<typeof newWorkItemSearch>>();
  const agents = useAgents({ mode: 'worker' });
  const { copy } = search;
  const original = useOperation('getWorkItemDetail', copy === undefined ? null : { work_item_id: copy });
  const got = copy === undefined || !agents.data ? agents : original;
  const content = (): ReactNode => {
    const workers = agents.data!.data;
    if (workers.length === 0) return <NoAgents sentence={words.noAgents} example={common.exampleAgent} />;
    const only = workers.length === 1 ? workers[0]!.id : null;
    const first = original.data ? copyOf(original.data) : { ...empty, agent_id: search.agent ?? only };
    return <NewForm key={copy ?? ''} first={first} />;
  };
  const list = { label: pages.workItems, href: to('/work-items') };
  return (
    <Page
      title={pages.newWorkItem}
      crumbs={[list]}
      lead={
        original.data ? (
          <Words text={words.leadCopy} name={<q>{workItemName(original.data)}</q>} />
        ) : (
          words.lead
        )
      }
    >
      <Loaded<unknown> got={got} list={list} skeleton={<Skeleton rows={6} height={72} />}>
        {content}
      </Loaded>
    </Page>
  );
};
