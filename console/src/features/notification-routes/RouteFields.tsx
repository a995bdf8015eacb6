import type { Form } from '../../api/index.ts';
import { useAgentOptions } from '../../resource/index.ts';
import { routes as words } from '../../text/en/routes.ts';
import {
  FieldRow,
  MultiSelect,
  NumberField,
  optionsOf,
  Select,
  Switch,
  Textarea,
  TextField,
} from '../../ui/index.ts';
import { ConditionFields } from './ConditionFields.tsx';
import { StepFields } from './StepFields.tsx';
import { firstValues, type Purpose, type RouteValues } from './values.ts';

const Agents = ({ form }: { form: Form<RouteValues> }) => {
  const field = form.field('agents');
  const { options, onOpen, onSearch } = useAgentOptions(field.value);
  return (
    <MultiSelect
      {...field}
      label={words.agents}
      hint={words.agentsHint}
      options={options}
      onOpen={onOpen}
      onSearch={onSearch}
    />
  );
};

const ReviewMatch = ({ form }: { form: Form<RouteValues> }) => (
  <>
    <MultiSelect
      {...form.field('sources')}
      label={words.sources}
      hint={words.sourcesHint}
      options={optionsOf(words.sourceNames)}
      searchable
    />
    <MultiSelect
      {...form.field('kinds')}
      label={words.kinds}
      hint={words.kindsHint}
      options={optionsOf(words.reviewKinds)}
      searchable
    />
    <Textarea {...form.field('tools')} label={words.tools} hint={words.toolsHint} rows={2} mono />
  </>
);

const AlertMatch = ({ form }: { form: Form<RouteValues> }) => (
  <>
    <MultiSelect
      {...form.field('kinds')}
      label={words.kinds}
      hint={words.kindsHint}
      options={optionsOf(words.alertKinds)}
      searchable
    />
    <MultiSelect
      {...form.field('severities')}
      label={words.severities}
      hint={words.severitiesHint}
      options={optionsOf(words.severityNames)}
      searchable
    />
  </>
);

const RoleField = ({ form }: { form: Form<RouteValues> }) => {
  const field = form.field('decide_role');
  return (
    <Select
      {...field}
      onChange={(value) => value !== null && field.onChange(value as RouteValues['decide_role'])}
      label={words.decide_role}
      hint={words.decideHint}
      options={optionsOf(words.roles)}
    />
  );
};

/** The fields of a route. `exists`: what it is for is fixed. */
export const RouteFields = ({ form, exists = false }: { form: Form<RouteValues>; exists?: boolean }) => {
  const isReviews = form.values.for === 'reviews';
  const choose = (purpose: Purpose) => {
    // What was chosen for the other purpose says nothing here.
    const { sources, severities, kinds, tools, decide_role } = firstValues;
    form.set({ for: purpose, sources, severities, kinds, tools, decide_role, conditions: [] });
  };
  return (
    <>
      {!exists && (
        <Select
          {...form.field('for')}
          label={words.for}
          onChange={(value) => value !== null && choose(value as Purpose)}
          options={optionsOf(words.fors)}
        />
      )}
      <FieldRow even>
        <TextField {...form.field('name')} label={words.name} required />
        <NumberField
          {...form.field('position')}
          label={words.position}
          hint={words.positionHint}
          min={0}
          max={10_000}
          step={1}
        />
      </FieldRow>
      {!exists && <Switch {...form.field('enabled')} label={words.enabled} />}
      <Agents form={form} />
      {isReviews ? <ReviewMatch form={form} /> : <AlertMatch form={form} />}
      {isReviews && <ConditionFields form={form} />}
      <StepFields form={form} />
      {isReviews && <RoleField form={form} />}
    </>
  );
};
