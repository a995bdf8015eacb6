import type { LoadState } from '../../api/index.ts';
import type { PublicAgent } from '../../api/types.gen.ts';
import { EditForm } from '../../resource/index.ts';
import { versions as words } from '../../text/en/versions.ts';
import { notify, optionsOf, Section, Select } from '../../ui/index.ts';
import { LoadedAgent, useAgentForm } from './AgentForm.tsx';

const toValues = ({ release }: PublicAgent) => ({ release });
type Values = ReturnType<typeof toValues>;

const ReleaseFields = ({ agent, got }: { agent: PublicAgent; got: LoadState<PublicAgent> }) => {
  const edit = useAgentForm(agent, got, toValues, (values: Values) => values);
  const { form } = edit;
  return (
    <EditForm edit={edit} labels={{ release: words.release }} onSaved={() => notify(words.saved)}>
      <Select
        {...form.field('release')}
        onChange={(release) => form.set({ release: release as Values['release'] })}
        label={words.release}
        hint={words.releaseHint}
        options={optionsOf(words.releases)}
      />
    </EditForm>
  );
};

export const ReleaseForm = ({ agentId }: { agentId: string }) => (
  <Section title={words.release}>
    <LoadedAgent agentId={agentId}>{(agent, got) => <ReleaseFields agent={agent} got={got} />}</LoadedAgent>
  </Section>
);
