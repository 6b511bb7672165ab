"""The same rows have the same evaluation, whoever is asked."""

import fairgame


def said(found):
    return [found.verdict, found.error, *((one["name"], one["value"], one["low"], one["high"], one["verdict"]) for one in found.constraints)]


def test_training_evaluation_and_file_agree(tmp_path):
    train, new = fairgame.read("@adult"), fairgame.read("@adult/test")
    policy = {
        "label": 'income == ">50K"',
        "constraints": ["positive_rate(each sex) >= 0.5 * positive_rate()", "recall(race == 'Black') >= 0.7"],
        "encoder": {"ignore": ["fnlwgt"]},
        "algorithm": {"practical": {"turns": 2000}},
    }
    model = fairgame.train(policy, train)
    assert said(model.evaluations_["train"]) == said(fairgame.evaluate(model, train))
    model.save(tmp_path / "m.safetensors")
    again = fairgame.load(tmp_path / "m.safetensors")
    assert said(again.evaluations_["train"]) == said(model.evaluations_["train"])
    found = fairgame.evaluate(tmp_path / "m.safetensors", new)
    assert said(found) == said(fairgame.evaluate(model, new))
    # Anyone's decisions, judged as an audit, by the same function.
    chances = model.predict_proba(new)[:, 1]
    groups = ["positive_rate(sex == 'Female') >= 0.5 * positive_rate()", "positive_rate(sex == 'Male') >= 0.5 * positive_rate()"]
    audited = fairgame.audit(new, chances, label=policy["label"], constraints=[*groups, policy["constraints"][1]])
    assert [one["verdict"] for one in audited.constraints] == [one["verdict"] for one in found.constraints]
    assert [one["value"] for one in audited.constraints] == [one["value"] for one in found.constraints]
