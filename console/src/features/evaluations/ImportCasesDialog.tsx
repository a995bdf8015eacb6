import { useState } from 'react';
import { call, perform, useAction } from '../../api/index.ts';
import type { ImportCasesBody, ImportedCases } from '../../api/types.gen.ts';
import { common } from '../../text/en/common.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { ActionDialog, Box, Muted, notify, optionsOf, Problem, Select } from '../../ui/index.ts';
import css from './evaluations.module.css';

/** Warnings that the dialog shows. */
const shown = 100;

type Format = NonNullable<ImportCasesBody['format']>;

const Preview = ({ result }: { result: ImportedCases }) => (
  <Box padded title={words.preview}>
    <p role="status">
      {words.previewOf(result.created, result.updated, result.unchanged)}{' '}
      <Muted>{words.readAs(words.formats[result.format])}</Muted>
    </p>
    {result.warnings.length > 0 && (
      <>
        <h3 className={css.warnings}>{words.warnings(result.warnings.length)}</h3>
        <ul className={css.scroll} tabIndex={0} aria-label={words.warnings(result.warnings.length)}>
          {result.warnings.slice(0, shown).map(({ line, message }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line may have several, and they keep their places.
            <li key={index}>
              <Muted>{words.line(line)}</Muted> {message}
            </li>
          ))}
          {result.warnings.length > shown && <li>{common.more(result.warnings.length - shown)}</li>}
        </ul>
      </>
    )}
  </Box>
);

/** Imports a file. What it would do is shown first. */
export const ImportCasesDialog = ({ datasetId, onClose }: { datasetId: string; onClose: () => void }) => {
  const params = { dataset_id: datasetId };
  const [content, setContent] = useState<string | null>(null);
  const [format, setFormat] = useState<Format>('auto');
  const preview = useAction(async (text: string, as: Format) => {
    const body = { content: text, format: as, dry_run: true };
    return (await call('importCases', params, { body, limit: 60_000 })).body;
  });
  const act = useAction(async () => {
    await perform('importCases', params, { body: { content: content!, format }, limit: 120_000 });
    notify(words.imported);
    onClose();
  });
  const look = (text: string | null, as: Format) => {
    setContent(text);
    setFormat(as);
    act.clear();
    if (text) void preview.run(text, as);
  };
  const notYet = content === null ? words.fileFirst : preview.busy ? common.loading : null;
  return (
    <ActionDialog
      open
      wide
      onClose={onClose}
      title={words.import}
      act={act}
      disabledReason={notYet ?? preview.error?.message}
    >
      <label className={css.file}>
        <span>{words.file}</span>
        <input
          type="file"
          accept=".jsonl,.ndjson,.json,.yaml,.yml"
          onChange={async (event) => {
            const [file] = event.currentTarget.files ?? [];
            if (file) look(await file.text(), format);
          }}
        />
        <Muted small>{words.chooseFile}</Muted>
      </label>
      <Select
        label={words.format}
        value={format}
        options={optionsOf(words.formats)}
        onChange={(value) => look(content, value as Format)}
      />
      {preview.error && (
        <div className={css.scroll}>
          <Problem error={preview.error} />
        </div>
      )}
      {preview.result && <Preview result={preview.result} />}
    </ActionDialog>
  );
};
