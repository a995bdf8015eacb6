import { useNavigate } from '@tanstack/react-router';
import {
  path,
  request,
  useForm,
  useGet,
  useIdempotencyKey,
  useInvalidate,
  usePermission,
} from '../../api/index.ts';
import type { PublicAgent } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useUrlState } from '../../app/url-state.ts';
import { agents as words } from '../../text/en/agents.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Button,
  ButtonLink,
  Form,
  Loaded,
  notify,
  Page,
  Problem,
  permissionReason,
  Segmented,
  Textarea,
  TextField,
} from '../../ui/index.ts';
import { LlmSelect } from './LlmSelect.tsx';
import type { newAgentSearch } from './search.ts';

const modes = (['worker', 'conversational'] as const).map((value) => ({ value, label: words.modes[value] }));

/** What a copy takes over besides what the form shows. */
const copied = (agent: PublicAgent) => ({
  fallback_llm_ids: agent.fallback_llm_ids,
  tool_server_ids: agent.tool_server_ids,
  tool_policies: agent.tool_policies,
  semantic_data_model_ids: agent.semantic_data_model_ids,
  result_schema: agent.result_schema,
  execution: agent.execution,
  approval_role: agent.approval_role,
  settings: agent.settings,
  model: agent.model,
});

const NewAgentForm = ({ copy }: { copy: PublicAgent | null }) => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const reason = permissionReason(usePermission('createAgent'));
  const keyOf = useIdempotencyKey();
  const form = useForm(
    {
      name: copy ? words.copyOf(copy.name) : '',
      mode: copy?.mode ?? ('worker' as const),
      description: copy?.description ?? '',
      instructions: copy?.instructions ?? '',
      llm_id: copy?.llm_id ?? null,
    },
    async ({ description, ...values }) => {
      const body = { ...(copy ? copied(copy) : {}), ...values, description: description || null };
      const { body: created } = await request<PublicAgent>('POST', '/api/v2/agents', {
        body,
        idempotencyKey: keyOf(body),
      });
      notify(words.created);
      await navigate({ to: to.agent(created.id) });
      await invalidate('/app/api/agents', '/api/v2/agents');
    },
  );
  return (
    <Form
      onSubmit={() => void form.submit()}
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy} disabledReason={reason}>
            {words.create}
          </Button>
          <ButtonLink kind="quiet" href={to.agents()}>
            {common.discard}
          </ButtonLink>
        </>
      }
    >
      <TextField {...form.field('name')} label={common.name} disabledReason={reason} required autoFocus />
      <Segmented {...form.field('mode')} label={words.mode} options={modes} />
      <p>{words.modeHints[form.values.mode]}</p>
      <Textarea
        {...form.field('instructions')}
        label={words.instructions}
        hint={words.instructionsHint}
        disabledReason={reason}
      />
      <LlmSelect {...form.field('llm_id')} disabledReason={reason} />
      <TextField {...form.field('description')} label={words.description} disabledReason={reason} />
      {form.error && <Problem error={form.error} />}
    </Form>
  );
};

/** Creates an agent, or a copy of one. */
export const NewAgentPage = () => {
  const { copy } = useUrlState<ReturnType<typeof newAgentSearch>>().search;
  const got = useGet<PublicAgent>(path`/api/v2/agents/${copy ?? ''}`, { enabled: copy !== undefined });
  return (
    <Page title={pages.newAgent} crumbs={[{ label: pages.agents, href: to.agents() }]}>
      {copy === undefined ? (
        <NewAgentForm copy={null} />
      ) : (
        <Loaded got={got} operation="getAgent" list={{ label: pages.agents, href: to.agents() }}>
          {(agent) => <NewAgentForm copy={agent} />}
        </Loaded>
      )}
    </Page>
  );
};
