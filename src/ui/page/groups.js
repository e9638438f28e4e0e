// Groups of pods that are bound together, and what each waits for.
import { html } from "./vendor/preact-htm.js";
import { Card, Empty, Failed, Loading, Table, ageSince } from "./parts.js";
import { t } from "./words.js";

export function Groups({ gangs }) {
  const { value, failure } = gangs;
  if (!value) return failure ? html`<${Failed} failure=${failure} what=${t("see_gangs")} />` : html`<${Loading} />`;
  if (value.groups.length === 0) return html`<${Empty} title=${t(value.mode === "off" ? "gangsOff" : "noGangs")}>${t("gangsHelp")}</${Empty}>`;
  return html`
    <${Failed} failure=${failure} what=${t("see_gangs")} />
    <${Card} title=${t("nGangs", value.groups.length)} note=${value.mode === "observe" ? t("gangsObserved") : ""}><${Table} caption=${t("tab_groups")} rows=${value.groups} columns=${[
      { head: t("gang"), of: (group) => html`<b>${group.namespace}/${group.name}</b>`, is: "of" },
      { head: t("gangState"), of: (group) => t(`gang_${group.state}`) },
      { head: t("gangBound"), of: (group) => t("gangOf", group.bound, group.size), is: "num" },
      { head: t("waits"), of: (group) => group.since && ageSince(group.since), is: "num since" },
      { head: t("why"), of: (group) => html`<b>${group.message}</b>`, is: "wide" },
    ]} /></${Card}>`;
}
