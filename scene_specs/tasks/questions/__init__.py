"""Questions, referring expressions, captions and scene graphs about the measured truth of images.

program     the language of programs, as JSON and in CLEVR's form; the only module that both executors share
view        what the language sees of an image
relations_executor, positions_executor
            two executors without common code: one looks up measured relations, the other computes with positions
rules       which questions are asked: presuppositions hold, every step matters, the text has one reading
grammar     words of programs and programs of words, by the data of grammar.json
draws, described_sets, sampling, generate, balance
            random questions about an image, and balanced series of them
question_items, clevr_questions
            questions as items of `render-eval` and `render-export --format eval`, and in CLEVR's form
expressions, captions
            the shortest expression that identifies an object; sentences and scene graphs about an image
"""
