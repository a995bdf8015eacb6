export { AddToList } from './AddToList.tsx';
export { accentOf, readColor } from './accent.ts';
export { Bar, Button, ButtonLink, type ButtonProps, IconButton } from './Button.tsx';
export { CodeBlock, curlOf } from './CodeBlock.tsx';
export { Conflict, type Difference, DiffView } from './Conflict.tsx';
export { CopyButton, CopyValue, copyText, ShortId, shortId } from './CopyValue.tsx';
export { Checkbox, RadioGroup, Segmented, Switch, ToggleGroup } from './choices.tsx';
export { useChosenInView } from './chosen-in-view.ts';
export { cx } from './cx.ts';
export { ActionDialog, Dialog } from './Dialog.tsx';
export { downloadFrom, downloadText } from './download.ts';
export { Band, type BandRow } from './drawings/Band.tsx';
export { Bars, type Part, Sparkline, SumBar } from './drawings/Bars.tsx';
export type { BandBucket } from './drawings/buckets.ts';
export { Mark, type Outcome, outcomeKinds, Shape, wordOf } from './drawings/marks.tsx';
export { Strip } from './drawings/Strip.tsx';
export { durationTicks } from './drawings/scale.ts';
export { type Step, Waterfall } from './drawings/Waterfall.tsx';
export { offsetAt } from './drawings/zone-time.ts';
export { FilterBar, FilterChoice, FilterSelect, FilterText } from './FilterBar.tsx';
export { FilterValue } from './FilterValue.tsx';
export { NumberField, PasswordField, SecretField, SecretTextarea, Textarea, TextField } from './fields.tsx';
export { useHash, useHashTarget } from './hash-target.ts';
export { JsonView } from './JsonView.tsx';
export { useKeptFocus } from './kept-focus.ts';
export { useKeys } from './keys.ts';
export { Link } from './Link.tsx';
export { LinkList } from './LinkList.tsx';
export { Loaded, Skeleton } from './Loaded.tsx';
export { Menu } from './Menu.tsx';
export type { MenuEntry } from './MenuButton.tsx';
export { NativeSelect } from './NativeSelect.tsx';
export { notify } from './notices.ts';
export { optionsOf } from './options.ts';
export {
  Box,
  Columns,
  type Crumb,
  Emphasis,
  Facts,
  FieldRow,
  Form,
  Muted,
  Page,
  Section,
  TwoLines,
} from './Page.tsx';
export { Pager } from './Pager.tsx';
export { permissionReason, useDisabledReason } from './permission.ts';
export { RowsBar } from './RowsBar.tsx';
export { type RowsColumn, RowsGrid, type RowValue } from './RowsGrid.tsx';
export { RowsTable } from './RowsTable.tsx';
export { type SecretEntry, SecretMap, StoredSecretMap, storedEntries } from './SecretMap.tsx';
export { MultiSelect, type Option, Select } from './Select.tsx';
export { type Selection, SelectionBar, useSelection } from './selection.tsx';
export { useShown } from './shown.ts';
export {
  Callout,
  EmptyState,
  ErrorState,
  Gone,
  NoPermission,
  NothingMatches,
  Problem,
  Updated,
} from './states.tsx';
export { type Column, Table } from './Table.tsx';
export { type Tab, Tabs } from './Tabs.tsx';
export { Legend, OutcomeTag, Tag } from './Tag.tsx';
export { TestSteps } from './TestSteps.tsx';
export { Words } from './Words.tsx';
