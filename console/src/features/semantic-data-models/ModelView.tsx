import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { Box, type Column, Muted, Section, Table, TwoLines } from '../../ui/index.ts';
import css from './ModelView.module.css';
import {
  type Dataset,
  expressionOf,
  type Field,
  type Metric,
  type Relationship,
  type SemanticModel,
  synonymsOf,
} from './model.ts';

const nameOf = (one: Field | Metric) =>
  'label' in one && one.label ? `${one.label} (${one.name})` : one.name;

/** Text below the name of a field or metric. */
const noteOf = (one: Field | Metric): string =>
  [one.description, synonymsOf(one).length > 0 && words.synonyms(synonymsOf(one).join(', '))]
    .filter(Boolean)
    .join('. ');

const columnsOf = (title: string): Column<Field | Metric>[] => [
  {
    key: 'name',
    title,
    width: '44%',
    cell: (one) => <TwoLines below={noteOf(one)}>{nameOf(one)}</TwoLines>,
  },
  {
    key: 'datatype',
    title: words.datatype,
    width: '18%',
    cell: (one) => (
      <>
        {one.datatype} {'dimension' in one && one.dimension?.is_time && <Muted small>{words.time}</Muted>}
      </>
    ),
  },
  {
    key: 'expression',
    title: words.expression,
    phone: 'below',
    cell: (one) => <span className={css.code}>{expressionOf(one)}</span>,
  },
];

const relationshipColumns: readonly Column<Relationship>[] = [
  { key: 'name', title: words.relationship, width: '44%', cell: ({ name }) => name },
  {
    key: 'joins',
    title: words.joins,
    phone: 'below',
    cell: ({ from, to, from_columns, to_columns }) =>
      words.joinOf(from, from_columns.join(', '), to, to_columns.join(', ')),
  },
];

const DatasetSection = ({ dataset }: { dataset: Dataset }) => {
  const { name, source, primary_key, description, fields = [] } = dataset;
  const note = [
    source,
    primary_key && primary_key.length > 0 && words.primaryKey(primary_key.join(', ')),
    description,
  ];
  return (
    <Section title={name} note={note.filter(Boolean).join(', ')}>
      <Box padded={fields.length === 0}>
        {fields.length === 0 ? (
          <Muted>{words.noFields}</Muted>
        ) : (
          <Table
            label={name}
            rows={fields}
            columns={columnsOf(words.field)}
            rowKey={(field) => `${name}.${field.name}`}
            name={(field) => field.name}
          />
        )}
      </Box>
    </Section>
  );
};

/** A semantic model to read: its metrics, the fields of its datasets, and how they are joined. */
export const ModelView = ({ model }: { model: SemanticModel }) => {
  const { datasets = [], relationships = [], metrics = [], description } = model;
  return (
    <>
      {description && <p>{description}</p>}
      <Section title={words.metrics}>
        <Box padded={metrics.length === 0}>
          {metrics.length === 0 ? (
            <Muted>{words.noMetrics}</Muted>
          ) : (
            <Table
              label={words.metrics}
              rows={metrics}
              columns={columnsOf(words.metric)}
              rowKey={({ name }) => name}
              name={({ name }) => name}
            />
          )}
        </Box>
      </Section>
      {datasets.map((dataset) => (
        <DatasetSection key={dataset.name} dataset={dataset} />
      ))}
      <Section title={words.relationships}>
        <Box padded={relationships.length === 0}>
          {relationships.length === 0 ? (
            <Muted>{words.noRelationships}</Muted>
          ) : (
            <Table
              label={words.relationships}
              rows={relationships}
              columns={relationshipColumns}
              rowKey={({ name }) => name}
              name={({ name }) => name}
            />
          )}
        </Box>
      </Section>
    </>
  );
};
