import { useState } from 'react';
import { perform, useAction } from '../../api/index.ts';
import type { RoleMappingPreview } from '../../api/types.gen.ts';
import { people as words } from '../../text/en/people.ts';
import { list } from '../../text/index.ts';
import { Box, Button, Callout, Problem, Section, Textarea } from '../../ui/index.ts';
import css from './ClaimsPreview.module.css';

const sample = '{\n  "groups": ["platform-builders"]\n}';

const parse = (text: string): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
};

const Result = ({ preview: { role, matched, ignored } }: { preview: RoleMappingPreview }) => (
  <Callout
    tone={role === null ? 'look' : 'good'}
    title={role === null ? words.refused : words.gets(words.roleOf(role))}
  >
    {matched.map(({ claim, value, decides }) => (
      <p key={`${claim} ${value}`}>
        {`${words.rule(claim, value)}: ${decides ? words.decides : words.matches}`}
      </p>
    ))}
    {ignored.map(({ claim, value, reason, found, hint }) => (
      <p key={`${claim} ${value}`}>
        {[
          `${words.rule(claim, value)}:`,
          words.reasons[reason],
          found.length > 0 ? words.found(list(found)) : '',
          hint ?? '',
        ].join(' ')}
      </p>
    ))}
  </Callout>
);

/** Tries claims on the mappings. Nothing is stored. */
export const ClaimsPreview = () => {
  const [text, setText] = useState(sample);
  const claims = parse(text);
  const [preview, setPreview] = useState<RoleMappingPreview | null>(null);
  const action = useAction(async () =>
    setPreview((await perform('previewRoleMappings', {}, { body: { claims } })).body),
  );
  return (
    <Section title={words.preview}>
      <Box padded>
        <div className={css.stack}>
          <p>{words.previewLead}</p>
          <Textarea
            label={words.claims}
            hint={words.claimsHint}
            mono
            value={text}
            onChange={setText}
            error={claims === null ? words.notJson : undefined}
          />
          <Button
            busy={action.busy}
            disabledReason={claims === null ? words.notJson : null}
            onClick={() => void action.run()}
          >
            {words.try}
          </Button>
          {action.error && <Problem error={action.error} />}
          {preview && !action.error && <Result preview={preview} />}
        </div>
      </Box>
    </Section>
  );
};
